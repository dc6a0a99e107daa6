/** The platform's controller without its constructor: most bodies never look at their signal, and one is dear. */
const BareAbortController = function BareAbortController() {} as unknown as new () => object
BareAbortController.prototype = AbortController.prototype

/**
 * The controller of one call. Who aborts it from inside the call stops the whole turn; the executor stops only the
 * call. A method in place of a listener: nothing to remove.
 */
export class CallAbortController extends BareAbortController implements AbortController {
  readonly #onOwnAbort: (reason: unknown) => void
  /** Made when somebody looks, or when it aborts. */
  #real: AbortController | undefined

  constructor(onOwnAbort: (reason: unknown) => void) {
    super()
    this.#onOwnAbort = onOwnAbort
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return
    this.stop(reason)
    this.#onOwnAbort(this.signal.reason)
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  get #controller(): AbortController {
    this.#real ??= new AbortController()
    return this.#real
  }
}
