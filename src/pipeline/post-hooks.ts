import { copyInput } from '../base/copy-input.ts'
import { describeError } from '../base/describe-error.ts'
import type { HookEvent } from '../hooks/hook.ts'
import type { ReadyHook } from '../hooks/hook-registry.ts'
import { maxStoredChars } from '../results/long-result.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { namesOf } from '../tool/tool-box.ts'
import { endOf } from './formatting.ts'
import { hookInput } from './hook-input.ts'
import { type HookOutcome, HookRuns } from './run-hooks.ts'
import type { ToolCall } from './tool-call.ts'

/** The event for the hooks after this call, depending on how its body ended. */
export function postHookEvent({ bodyResult, stopCause }: ToolCall): HookEvent {
  return bodyResult?.ok === true && stopCause?.kind !== 'timeout' ? 'PostToolUse' : 'PostToolUseFailure'
}

/** The `postHooks` phase: hooks may add context, replace the output, or end the query. The result is sent in any case. */
export function runPostHooks(call: ToolCall): void {
  const { tool } = call
  if (tool === undefined) return
  const event = postHookEvent(call)
  const finish = (outcomes: readonly HookOutcome[]) => {
    call.hurryUp = undefined
    for (const outcome of outcomes) heed(call, event, outcome)
    call.tell({ type: 'postHooks.finished' })
  }
  const runs = new HookRuns(call, event, readyHooks(call, tool, event), finish)
  const hurry = (): void => finish(runs.cancel('aborted'))
  call.hurryUp = hurry
  runs.start(() => hookInput(call, event, detailsOf(call, event)))
}

/** A context modifier may have stored invalid hooks; then none run, and the result is sent. */
function readyHooks(call: ToolCall, tool: AnyTool, event: HookEvent): readonly ReadyHook[] {
  try {
    return call.executor.policy.hooks(call.context.hooks, event, namesOf(tool))
  } catch (error) {
    call.trail.attach({ type: 'hook_error_during_execution', content: describeError(error), hookEvent: event })
    return []
  }
}

function detailsOf(call: ToolCall, event: HookEvent): object {
  const duration = { ...(call.bodyMs !== undefined && { duration_ms: call.bodyMs }) }
  if (event === 'PostToolUse') return { tool_response: ownCopy(dataOf(call)), ...duration }
  return { error: errorOf(call), is_interrupt: false, ...duration }
}

/** Each hook gets its own copy of the data, as far as it is plain and not too large. */
function ownCopy(data: unknown): unknown {
  const copied = copyInput(data, maxStoredChars)
  return copied.ok ? copied.copy : data
}

const dataOf = ({ bodyResult }: ToolCall): unknown => (bodyResult?.ok === true ? bodyResult.result.data : undefined)

function errorOf({ bodyResult, stopCause }: ToolCall): string {
  if (stopCause?.kind === 'timeout') return resultTexts.timedOut(stopCause, endOf(bodyResult)).toolUseResult
  return bodyResult?.ok === false ? describeError(bodyResult.error) : ''
}

function heed(call: ToolCall, event: HookEvent, outcome: HookOutcome): void {
  call.trail.addHook(event, outcome, call.id)
  if (outcome.status === 'failed') return call.executor.report.postHookFailed(call, outcome)
  if (outcome.status !== 'said') return
  const { permission, reason, output } = outcome.word
  if (permission === 'deny' && reason !== undefined) {
    call.trail.attach({
      type: 'hook_additional_context',
      content: reason,
      hookEvent: event,
      hookName: outcome.hook.name,
    })
  }
  if (output === undefined) return
  if (output.isForMcpOnly && call.tool?.name.startsWith('mcp__') !== true) {
    call.executor.warn(call, 'hook_output_ignored', `${outcome.hook.name} may replace the output of MCP tools only`)
  } else call.replacement = { data: output.data, by: outcome.hook.name }
}
