import { abortListenersOf } from '../base/abort-listeners.ts'

/** Listens to the host's controller only while calls are unfinished. */
export class HostAbort {
  readonly #controller: AbortController
  readonly #signal: AbortSignal
  readonly #onAbort: (reason: unknown) => void
  #isListening = false
  #isTold = false

  constructor(controller: AbortController, onAbort: (reason: unknown) => void) {
    this.#controller = controller
    this.#signal = controller.signal
    this.#onAbort = onAbort
  }

  /** An earlier abort counts too. */
  check(): void {
    if (this.#signal.aborted) this.#tell()
  }

  listenWhile(isUnderWay: boolean): void {
    if (isUnderWay === this.#isListening) return
    this.#isListening = isUnderWay
    const listeners = abortListenersOf(this.#signal)
    if (isUnderWay) {
      listeners.add(this.#tell)
      this.check()
    } else listeners.delete(this.#tell)
  }

  /** The executor already knows this reason, so it is not reported again. */
  acknowledge(reason: unknown): void {
    const { aborted, reason: own } = this.#signal
    if (aborted && own === reason) this.#isTold = true
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  readonly #tell = (): void => {
    if (this.#isTold) return
    this.#isTold = true
    this.#onAbort(this.#signal.reason)
  }
}
