import type { ToolCall } from './tool-call.ts'

/** The platform's controller without its constructor, which is expensive: most bodies never use their signal. */
const BareAbortController = function BareAbortController() {} as unknown as new () => object
BareAbortController.prototype = AbortController.prototype

/**
 * The controller of one call. Aborting it from inside the call stops the whole turn; the executor stops only the call.
 * A method instead of a listener, so there is nothing to remove.
 */
export class CallAbortController extends BareAbortController implements AbortController {
  readonly call: ToolCall
  readonly #onOwnAbort: (call: ToolCall, reason: unknown) => void
  /** Created on first access, or when it aborts. */
  #real: AbortController | undefined

  constructor(call: ToolCall, onOwnAbort: (call: ToolCall, reason: unknown) => void) {
    super()
    this.call = call
    this.#onOwnAbort = onOwnAbort
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return
    this.stop(reason)
    this.#onOwnAbort(this.call, this.signal.reason)
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  get #controller(): AbortController {
    this.#real ??= new AbortController()
    return this.#real
  }
}
