import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { ToolCall } from './tool-call.ts'

/** The context of a call. It may change until the body begins, because earlier calls may end. */
export function contextOf(call: ToolCall): ToolCallContext {
  const base = call.executor.contextFor(call)
  if (call.ownContext === undefined || (base !== call.contextBase && call.body === undefined)) {
    call.contextBase = base
    const own = { toolUseID: call.id, abortController: abortControllerOf(call) }
    // not a spread: a spread that adds a key is ten times slower
    call.ownContext = Object.assign({}, base, own)
  }
  return call.ownContext
}

function abortControllerOf(call: ToolCall): CallAbortController<ToolCall> {
  if (call.startedController === undefined) {
    call.startedController = new CallAbortController(call, stopTurn)
    if (call.stopCause !== undefined) call.startedController.stop(call.stopCause.reason)
  }
  return call.startedController
}

/** Aborted from inside: ends the turn and this call, whatever the reason means for other calls. */
function stopTurn(call: ToolCall, reason: unknown): void {
  if (call.stage !== 'executing' && call.stage !== 'queued') return
  call.executor.stopTurn(reason)
  call.tell({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
}
