import { placeOf } from './body-link.ts'
import type { ToolCall } from './tool-call.ts'

/** A body elsewhere is killed after its grace period. This is how long the news of it may take. */
const remoteStopMs = 5_000

/** The state `stopping`: the body has been told to stop, and the call waits for it until the grace period ends. */
export function startGrace(call: ToolCall): void {
  const { abortGraceMs } = call.executor.settings
  call.body?.startGrace(placeOf(call) === undefined ? abortGraceMs : abortGraceMs + remoteStopMs)
}

/** Aborts the call's signal and cancels its pre-hooks. Also runs when a call stops before its body has started. */
export function stopCall(call: ToolCall): void {
  const { stopCause, startedTimer, startedController } = call
  if (stopCause === undefined) return
  for (const outcome of call.hookRuns?.cancel(stopCause.reason) ?? []) {
    call.trail.addHook('PreToolUse', outcome, call.id)
  }
  if (startedController === undefined && startedTimer === undefined) return
  call.executor.push(() => {
    call.startedTimer?.clear()
    call.startedController?.stop(stopCause.reason)
  })
}

/** The grace period is over: the body is left behind, and everything it still sends is dropped. */
export function abandonBody(call: ToolCall): void {
  call.body?.abandon()
  call.executor.push(() => call.executor.warn(call, 'abandoned', 'it did not stop within its grace period'))
}
