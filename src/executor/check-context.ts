import { invalidOption } from '../base/invalid-option.ts'
import { LazyAbortController } from '../base/lazy-abort-controller.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import { readHooks } from '../hooks/hook-registry.ts'
import { type ReadPermissions, readPermissions } from '../permission/permission-settings.ts'
import { newWarnings, problemsOf, type RuleProblem } from '../tool/check-rules.ts'
import { SharedLocks } from '../tool/locks.ts'
import type { AnyTool } from '../tool/tool.ts'
import { createToolUseContext, type ToolUseContext } from '../tool/tool-use-context.ts'

/** The tools in the context of bodies: those that the host passed in the context, or else all tools of this executor. */
function toolsFor(given: Partial<ToolUseContext> | undefined, tools: readonly AnyTool[]): readonly AnyTool[] {
  const own = given?.options?.tools
  return own === undefined || own.length === 0 ? tools : own
}

/** The context of the first call. */
export function contextFrom(given: Partial<ToolUseContext> | undefined, tools: readonly AnyTool[]): ToolUseContext {
  const options = Object.assign({}, given?.options, { tools: toolsFor(given, tools) })
  const context = createToolUseContext(Object.assign({}, given, { options }))
  assertContext(context)
  return context
}

export function assertCanUseTool(canUseTool: unknown): void {
  if (canUseTool === undefined || typeof canUseTool === 'function') return
  invalidOption('canUseTool', 'a function', canUseTool)
}

/**
 * Throws for invalid rules and hooks when the host passes them in, not later during a call. Returns warnings about valid
 * rules, each warning once.
 */
export function assertPermissions({ permissions, hooks }: ToolUseContext, tools: readonly AnyTool[]): string[] {
  const { rules } = readPermissions(permissions)
  if (hooks !== undefined) readHooks(hooks)
  return newWarnings(assertRules(rules, tools), tools)
}

/** Throws for a rule that has no effect or grants far too much. */
export function assertRules(rules: ReadPermissions['rules'], tools: readonly AnyTool[]): RuleProblem[] {
  const problems = problemsOf(rules, tools)
  const error = problems.find(({ severity }) => severity === 'error')
  if (error !== undefined) throw new SignalboxError('invalid_rule', error.message)
  return problems
}

export function assertContext({ abortController, locks }: ToolUseContext): void {
  if (locks !== undefined && !(locks instanceof SharedLocks)) {
    invalidOption('context.locks', 'locks made by createLocks() of this copy of signalbox', locks, 'invalid_context')
  }
  if (abortController instanceof LazyAbortController) return
  if (typeof abortController.abort === 'function' && abortController.signal instanceof EventTarget) return
  invalidOption('context.abortController', 'an AbortController', abortController, 'invalid_context')
}
