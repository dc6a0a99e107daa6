/** The host's controller, listened to by one listener for the whole turn, and only while calls are under way. */
export class HostAbort {
  readonly #controller: AbortController
  readonly #onAbort: (reason: unknown) => void
  #isListening = false
  #isTold = false

  constructor(controller: AbortController, onAbort: (reason: unknown) => void) {
    this.#controller = controller
    this.#onAbort = onAbort
  }

  /** An abort counts however long ago it was. */
  check(): void {
    if (this.#controller.signal.aborted) this.#tell()
  }

  listenWhile(isUnderWay: boolean): void {
    if (isUnderWay === this.#isListening) return
    this.#isListening = isUnderWay
    const { signal } = this.#controller
    if (isUnderWay) {
      signal.addEventListener('abort', this.#tell)
      this.check()
    } else signal.removeEventListener('abort', this.#tell)
  }

  /** Who is told by somebody else need not be told again. */
  acknowledge(reason: unknown): void {
    const { aborted, reason: own } = this.#controller.signal
    if (aborted && own === reason) this.#isTold = true
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  readonly #tell = (): void => {
    if (this.#isTold) return
    this.#isTold = true
    this.#onAbort(this.#controller.signal.reason)
  }
}
