import type { PermissionBehavior } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { namesTool, type PermissionRule } from '../permission/permission-rule.ts'
import { type PermissionLists, type ReadPermissions, readRules } from '../permission/permission-settings.ts'
import type { AnyTool } from './tool.ts'
import { ruleNamesOf } from './tool-box.ts'

/** What is wrong with a rule, or worth knowing about it. */
export interface RuleProblem {
  readonly rule: string
  readonly behavior: PermissionBehavior
  /** With an error the rule cannot be used. */
  readonly severity: 'error' | 'warning'
  /** The rule may be for a tool that is not here now. */
  readonly isUnknownTool: boolean
  readonly message: string
}

/**
 * Checks rules against the tools that they are for: misspelt names, brackets that no tool can read, rules that can never
 * match, rules that grant more than they seem to. Throws at a rule that cannot be parsed.
 *
 * @example
 * for (const { severity, message } of checkRules({ deny: ['bash(ls:*)'] }, tools)) console.warn(severity, message)
 */
export function checkRules(lists: PermissionLists, tools: readonly AnyTool[]): RuleProblem[] {
  return problemsOf(readRules(lists, 'permissions'), tools)
}

export function problemsOf(rules: ReadPermissions['rules'], tools: readonly AnyTool[]): RuleProblem[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((behavior) =>
    rules[behavior].flatMap((rule) => {
      const problem = problemOf(rule, behavior, tools)
      return problem === undefined ? [] : [{ isUnknownTool: false, ...problem, rule: rule.text, behavior }]
    }),
  )
}

type Problem = Pick<RuleProblem, 'severity' | 'message'> & { readonly isUnknownTool?: boolean }

function problemOf(rule: PermissionRule, behavior: PermissionBehavior, tools: readonly AnyTool[]): Problem | undefined {
  const named = tools.filter((tool) => namesTool(rule, ruleNamesOf(tool)))
  const shown = JSON.stringify(rule.text)
  if (named.length === 0) return unknownTool(rule, shown, tools)
  const { spec } = rule
  if (spec === undefined) return undefined
  const deaf = named.find((tool) => tool.matchesRule === undefined)
  if (deaf !== undefined) {
    return {
      severity: 'error',
      message: `The rule ${shown} has brackets, but ${deaf.name} has no matchesRule to read them.`,
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
    return { severity: 'error', message: `${tool.name} cannot read it: ${describeError(error)}` }
  }
}

function unknownTool(
  { toolName, server }: PermissionRule,
  shown: string,
  tools: readonly AnyTool[],
): Problem | undefined {
  // the tools of a server come and go with it
  if (server !== undefined || toolName.startsWith('mcp__')) return undefined
  const names = tools.flatMap(ruleNamesOf)
  const same = names.find((name) => name.toLowerCase() === toolName.toLowerCase())
  if (same !== undefined)
    return { severity: 'error', message: `The rule ${shown} names no tool. Write ${same}, with that case.` }
  if (names.length === 0) return undefined
  return {
    severity: 'warning',
    isUnknownTool: true,
    message: `The rule ${shown} names no tool, so it has no effect. Known tools: ${[...new Set(names)].join(', ')}.`,
  }
}

/** Warnings that were given already: a rule is read each turn, and reported once for a set of tools. */
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
