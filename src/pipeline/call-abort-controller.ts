import type { ToolCall } from './tool-call.ts'

/** The platform's controller without its constructor, which is expensive: most bodies never use their signal. */
const BareAbortController = function BareAbortController() {} as unknown as new () => object
BareAbortController.prototype = AbortController.prototype

/**
 * The controller of one call. Aborting it from inside the call stops the whole turn; the executor stops only the call.
 * A method instead of a listener, so there is nothing to remove.
 */
export class CallAbortController extends BareAbortController implements AbortController {
  readonly #call: ToolCall
  /** Created on first access, or when it aborts. */
  #real: AbortController | undefined

  constructor(call: ToolCall) {
    super()
    this.#call = call
  }

  /** The call that a controller belongs to. */
  static callOf(controller: AbortController): ToolCall | undefined {
    return #call in controller ? controller.#call : undefined
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return
    this.stop(reason)
    const { body } = this.#call
    if (body?.call.isDetached === true) body.call.stopItself(this.signal.reason)
    else stopTurn(this.#call, this.signal.reason)
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  get #controller(): AbortController {
    this.#real ??= new AbortController()
    return this.#real
  }
}

/** Aborted from inside: ends the turn and this call, whatever the reason means for other calls. */
function stopTurn(call: ToolCall, reason: unknown): void {
  if (call.stage !== 'executing' && call.stage !== 'queued') return
  call.executor.stopTurn(reason)
  call.tell({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
}
