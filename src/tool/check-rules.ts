import type { PermissionBehavior } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { namesTool, type PermissionRule } from '../permission/permission-rule.ts'
import { type PermissionLists, type ReadPermissions, readRules } from '../permission/permission-settings.ts'
import type { AnyTool } from './tool.ts'
import { ruleNamesOf } from './tool-box.ts'

/** A problem with a rule, or a remark about it. */
export interface RuleProblem {
  readonly rule: string
  readonly behavior: PermissionBehavior
  /** A rule with an error cannot be used. */
  readonly severity: 'error' | 'warning'
  /** No current tool has this name; the rule may be for a tool that is added later. */
  readonly isUnknownTool: boolean
  readonly message: string
}

/**
 * Checks rules against their tools. Finds misspelt names, specifiers that no tool understands, rules that can never
 * match, and rules that grant more than they seem to. Throws if a rule cannot be parsed.
 *
 * @example
 * for (const { severity, message } of checkRules({ deny: ['bash(ls:*)'] }, tools)) console.warn(severity, message)
 */
export function checkRules(lists: PermissionLists, tools: readonly AnyTool[]): RuleProblem[] {
  return problemsOf(readRules(lists, 'permissions'), tools)
}

export function problemsOf(rules: ReadPermissions['rules'], tools: readonly AnyTool[]): RuleProblem[] {
  const problems: RuleProblem[] = []
  for (const behavior of behaviors) {
    for (const rule of rules[behavior]) {
      const problem = problemOf(rule, behavior, tools)
      if (problem !== undefined) problems.push({ isUnknownTool: false, ...problem, rule: rule.text, behavior })
    }
  }
  return problems
}

const behaviors = ['deny', 'ask', 'allow'] as const

type Problem = Pick<RuleProblem, 'severity' | 'message'> & { readonly isUnknownTool?: boolean }

function problemOf(rule: PermissionRule, behavior: PermissionBehavior, tools: readonly AnyTool[]): Problem | undefined {
  const named = tools.filter((tool) => namesTool(rule, ruleNamesOf(tool)))
  const shown = JSON.stringify(rule.text)
  if (named.length === 0) return unknownTool(rule, shown, tools)
  const { spec } = rule
  if (spec === undefined) return undefined
  const unsupported = named.find((tool) => tool.matchesRule === undefined)
  if (unsupported !== undefined) {
    return {
      severity: 'error',
      message: `The rule ${shown} has a specifier in parentheses, but ${unsupported.name} has no matchesRule to evaluate it. Write the rule without parentheses, or add matchesRule to the tool.`,
    }
  }
  for (const tool of named) {
    const found = ask(tool, spec, behavior)
    if (found !== undefined) return { ...found, message: `The rule ${shown}: ${found.message}` }
  }
  return undefined
}

function ask(tool: AnyTool, spec: string, behavior: PermissionBehavior): Problem | undefined {
  try {
    return tool.checkRule?.(spec, behavior)
  } catch (error) {
    return { severity: 'error', message: `checkRule of ${tool.name} threw: ${describeError(error)}` }
  }
}

function unknownTool(
  { toolName, server }: PermissionRule,
  shown: string,
  tools: readonly AnyTool[],
): Problem | undefined {
  // the tools of a server appear only while it is connected
  if (server !== undefined || toolName.startsWith('mcp__')) return undefined
  const names = tools.flatMap(ruleNamesOf)
  const same = names.find((name) => name.toLowerCase() === toolName.toLowerCase())
  if (same !== undefined)
    return { severity: 'error', message: `The rule ${shown} matches no tool: names are case-sensitive. Write ${same}.` }
  if (names.length === 0) return undefined
  return {
    severity: 'warning',
    isUnknownTool: true,
    message: `The rule ${shown} matches no tool, so it has no effect. Known tools: ${[...new Set(names)].join(', ')}.`,
  }
}

/** Warnings that were already reported: a rule is checked each turn, but reported once per set of tools. */
const given = new WeakMap<AnyTool, Set<string>>()

export function newWarnings(problems: readonly RuleProblem[], [first]: readonly AnyTool[]): string[] {
  if (first === undefined || problems.length === 0) return []
  const known = given.get(first) ?? new Set<string>()
  given.set(first, known)
  return problems.flatMap(({ severity, message }) => {
    if (severity === 'error' || known.has(message)) return []
    known.add(message)
    return [message]
  })
}
