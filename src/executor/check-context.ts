import { SignalboxError } from '../errors/signalbox-error.ts'
import { readHooks } from '../hooks/hook-book.ts'
import { namesTool } from '../permission/permission-rule.ts'
import { type ReadPermissions, readPermissions } from '../permission/permission-settings.ts'
import { describeValue } from '../text/describe-value.ts'
import type { AnyTool } from '../tool/tool.ts'
import { namesOf } from '../tool/tool-box.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** The tools that bodies find in their context: those the host put there, else all of this executor. */
export function toolsFor(given: Partial<ToolUseContext> | undefined, tools: readonly AnyTool[]): readonly AnyTool[] {
  const own = given?.options?.tools
  return own === undefined || own.length === 0 ? tools : own
}

export function assertCanUseTool(canUseTool: unknown): void {
  if (canUseTool === undefined || typeof canUseTool === 'function') return
  throw new SignalboxError('invalid_option', `canUseTool must be a function, but got ${describeValue(canUseTool, 80)}.`)
}

/** Rules and hooks fail where they are handed in, not when a call meets them. */
export function assertPermissions({ permissions, hooks }: ToolUseContext, tools: readonly AnyTool[]): void {
  const { rules } = readPermissions(permissions)
  if (hooks !== undefined) readHooks(hooks)
  assertMatchable(rules, tools)
}

/** Brackets that no tool can read would make a rule that does nothing, or far too much. */
export function assertMatchable(rules: ReadPermissions['rules'], tools: readonly AnyTool[]): void {
  for (const rule of Object.values(rules).flat()) {
    if (rule.spec === undefined) continue
    const deaf = tools.find((tool) => namesTool(rule, namesOf(tool)) && tool.matchesRule === undefined)
    if (deaf === undefined) continue
    throw new SignalboxError(
      'invalid_rule',
      `The rule ${JSON.stringify(rule.text)} has brackets, but ${deaf.name} has no matchesRule to read them.`,
    )
  }
}

export function assertContext({ abortController }: ToolUseContext): void {
  if (typeof abortController.abort === 'function' && abortController.signal instanceof EventTarget) return
  throw new SignalboxError(
    'invalid_context',
    `The context's abortController must be an AbortController, but got ${describeValue(abortController, 80)}.`,
  )
}
