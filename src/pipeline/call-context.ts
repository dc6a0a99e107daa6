import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import { lockOf } from './locking.ts'
import { markRecorded } from './recorded-call.ts'
import type { ToolCall } from './tool-call.ts'

/** The context of a call. It may change until the body begins, because earlier calls may end. */
export function contextOf(call: ToolCall): ToolCallContext {
  const base = call.executor.contextFor(call)
  if (call.ownContext === undefined || (base !== call.contextBase && call.body === undefined)) {
    call.contextBase = base
    const own = { toolUseID: call.id, abortController: abortControllerOf(call) }
    // not a spread: a spread that adds a key is ten times slower
    call.ownContext = Object.assign({}, base, own)
    const { log, locks } = call.executor
    if (log !== undefined) markRecorded(call.ownContext, call, log)
    // what runs inside of the call shares its keys
    if (locks !== undefined) call.ownContext.locks = locks.inside(lockOf(call, locks))
  }
  return call.ownContext
}

function abortControllerOf(call: ToolCall): CallAbortController {
  if (call.startedController === undefined) {
    call.startedController = new CallAbortController(call)
    if (call.stopCause !== undefined) call.startedController.stop(call.stopCause.reason)
  }
  return call.startedController
}
