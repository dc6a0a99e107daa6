/**
 * The controller of one call. Who aborts it from inside the call stops the whole turn; the executor stops only the
 * call. A method in place of a listener: nothing to remove.
 */
export class CallAbortController extends AbortController {
  readonly #onOwnAbort: (reason: unknown) => void

  constructor(onOwnAbort: (reason: unknown) => void) {
    super()
    this.#onOwnAbort = onOwnAbort
  }

  override abort(reason?: unknown): void {
    if (this.signal.aborted) return
    super.abort(reason)
    this.#onOwnAbort(this.signal.reason)
  }

  stop(reason: unknown): void {
    super.abort(reason)
  }
}
