import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'

/** A rule as it was read: `Bash(npm *)` speaks of the tool `Bash`, and `npm *` is for that tool to understand. */
export interface PermissionRule {
  readonly text: string
  readonly toolName: string
  /** All tools of this MCP server, in place of one tool. */
  readonly server?: string
  readonly spec?: string
}

const serverRule = /^mcp__((?:(?!__)[^*])+)(?:__\*)?$/

/**
 * Reads `Tool`, `Tool(spec)`, `mcp__server`, `mcp__server__*` or `mcp__server__tool`. A rule that cannot be read throws,
 * with the position of what is wrong: a rule that silently does nothing would be worse.
 */
export function parseRule(text: unknown, where = 'rule'): PermissionRule {
  if (typeof text !== 'string') return fail(where, text, 0, `it must be a string, but got ${describeValue(text, 80)}`)
  const open = text.indexOf('(')
  const toolName = open < 0 ? text : text.slice(0, open)
  if (toolName === '') fail(where, text, 0, 'the name of a tool is missing')
  const odd = toolName.search(/[^\w.:/*-]/)
  if (odd >= 0) fail(where, text, odd, `${JSON.stringify(toolName[odd])} cannot stand in the name of a tool`)
  const server = serverRule.exec(toolName)?.[1]
  const star = toolName.indexOf('*')
  if (star >= 0 && server === undefined) fail(where, text, star, 'a star can only stand for all tools: mcp__server__*')
  if (toolName.startsWith('mcp__') && toolName.length === 5) fail(where, text, 5, 'the name of the server is missing')
  return {
    text,
    toolName,
    ...(server !== undefined && { server }),
    ...(open >= 0 && { spec: specOf(text, open, where) }),
  }
}

function specOf(text: string, open: number, where: string): string {
  const close = text.lastIndexOf(')')
  if (close < open) fail(where, text, text.length, 'the bracket is not closed')
  if (close !== text.length - 1) fail(where, text, close + 1, 'nothing may follow the closing bracket')
  const spec = text.slice(open + 1, close)
  if (spec.trim() === '') fail(where, text, open + 1, 'there is nothing in the brackets')
  return spec
}

/** Whether a rule speaks of a tool that goes by these names; an alias is no way around it. */
export function namesTool({ toolName, server }: PermissionRule, names: readonly string[]): boolean {
  if (server !== undefined) return names.some((name) => name.startsWith(`mcp__${server}__`))
  return names.includes(toolName)
}

function fail(where: string, text: unknown, position: number, problem: string): never {
  const shown = typeof text === 'string' ? ` ${JSON.stringify(text)}, position ${position}` : ''
  throw new SignalboxError('invalid_rule', `${where}${shown}: ${problem}.`)
}
