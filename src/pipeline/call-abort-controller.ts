import { LazyAbortController } from '../base/lazy-abort-controller.ts'
import type { ToolCall } from './tool-call.ts'

/**
 * The controller of one call. Aborting it from inside the call stops the whole turn; the executor stops only the call.
 * A method instead of a listener, so there is nothing to remove.
 */
export class CallAbortController extends LazyAbortController {
  readonly #call: ToolCall

  constructor(call: ToolCall) {
    super()
    this.#call = call
  }

  /** The call that a controller belongs to. */
  static callOf(controller: AbortController): ToolCall | undefined {
    return #call in controller ? controller.#call : undefined
  }

  override abort(reason?: unknown): void {
    if (this.aborted) return
    this.stop(reason)
    const { body } = this.#call
    if (body?.call.isDetached === true) body.call.stopItself(this.reason)
    else stopTurn(this.#call, this.reason)
  }

  stop(reason: unknown): void {
    super.abort(reason)
  }
}

/** Aborted from inside: ends the turn and this call, whatever the reason means for other calls. */
function stopTurn(call: ToolCall, reason: unknown): void {
  if (call.stage !== 'executing' && call.stage !== 'queued') return
  call.executor.stopTurn(reason)
  call.tell({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
}
