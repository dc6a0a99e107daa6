import { invalidOption } from '../base/invalid-option.ts'
import { isRecord } from '../base/read-field.ts'
import { SignalboxError } from '../base/signalbox-error.ts'

/** A parsed rule: `Bash(npm *)` applies to the tool `Bash`, which interprets `npm *`. */
export interface PermissionRule {
  readonly text: string
  readonly toolName: string
  /** All tools of this MCP server, instead of one tool. */
  readonly server?: string
  readonly spec?: string
  /** The message for the model if the rule denies. */
  readonly message?: string
}

/** A deny rule with a message for the model: why, and what it may do instead. */
export interface DenyRule {
  readonly rule: string
  readonly message: string
}

const serverRule = /^mcp__((?:(?!__)[^*])+)(?:__\*)?$/

/**
 * Parses `Tool`, `Tool(spec)`, `mcp__server`, `mcp__server__*` or `mcp__server__tool`. Throws for an invalid rule, with
 * the position of the problem: a rule that silently does nothing would be worse.
 */
export function parseRule(text: unknown, where = 'rule'): PermissionRule {
  if (isDenyRule(text)) return { ...parseRule(text.rule, where), message: text.message }
  if (typeof text !== 'string') return invalidOption(where, 'a string', text, 'invalid_rule')
  const open = text.indexOf('(')
  const toolName = open < 0 ? text : text.slice(0, open)
  if (toolName === '') fail(where, text, 0, 'the tool name is missing')
  const odd = toolName.search(/[^\w.:/*-]/)
  if (odd >= 0) fail(where, text, odd, `${JSON.stringify(toolName[odd])} is not allowed in a tool name`)
  const server = serverRule.exec(toolName)?.[1]
  const star = toolName.indexOf('*')
  if (star >= 0 && server === undefined)
    fail(where, text, star, 'a star is only allowed for all tools of a server: mcp__server__*')
  if (toolName.startsWith('mcp__') && toolName.length === 5) fail(where, text, 5, 'the server name is missing')
  return {
    text,
    toolName,
    ...(server !== undefined && { server }),
    ...(open >= 0 && { spec: specOf(text, open, where) }),
  }
}

const isDenyRule = (rule: unknown): rule is DenyRule =>
  isRecord(rule) && typeof rule.rule === 'string' && typeof rule.message === 'string' && rule.message !== ''

function specOf(text: string, open: number, where: string): string {
  const close = text.lastIndexOf(')')
  if (close < open) fail(where, text, text.length, 'expected ")" at the end')
  if (close !== text.length - 1) fail(where, text, close + 1, 'expected nothing after ")"')
  const spec = text.slice(open + 1, close)
  if (spec.trim() === '')
    fail(
      where,
      text,
      open + 1,
      'the parentheses are empty; write the tool name alone, or a pattern such as Bash(npm *)',
    )
  return spec
}

/** Whether a rule applies to a tool with these names; aliases cannot bypass it. */
export function namesTool({ toolName, server }: PermissionRule, names: readonly string[]): boolean {
  if (server !== undefined) return names.some((name) => name.startsWith(`mcp__${server}__`))
  return names.includes(toolName)
}

function fail(where: string, text: unknown, position: number, problem: string): never {
  const shown = typeof text === 'string' ? ` ${JSON.stringify(text)}, position ${position}` : ''
  throw new SignalboxError('invalid_rule', `${where}${shown}: ${problem}.`)
}
