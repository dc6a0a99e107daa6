/** The platform's controller without its constructor, which is expensive: most bodies never use their signal. */
const BareAbortController = function BareAbortController() {} as unknown as new () => object
BareAbortController.prototype = AbortController.prototype

/**
 * The controller of one call. Aborting it from inside the call stops the whole turn; the executor stops only the call.
 * A method instead of a listener, so there is nothing to remove.
 */
export class CallAbortController<Owner> extends BareAbortController implements AbortController {
  readonly #owner: Owner
  readonly #onOwnAbort: (owner: Owner, reason: unknown) => void
  /** Created on first access, or when it aborts. */
  #real: AbortController | undefined

  /** The owner is passed on, because a closure around it would be one more object per call. */
  constructor(owner: Owner, onOwnAbort: (owner: Owner, reason: unknown) => void) {
    super()
    this.#owner = owner
    this.#onOwnAbort = onOwnAbort
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.signal.aborted) return
    this.stop(reason)
    this.#onOwnAbort(this.#owner, this.signal.reason)
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason)
  }

  get #controller(): AbortController {
    this.#real ??= new AbortController()
    return this.#real
  }
}
