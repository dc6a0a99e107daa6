import { type AbortSource, abortSourceOf } from '../base/abort-source.ts'

/** Listens to the host's controller only while calls are unfinished. */
export class HostAbort {
  readonly #controller: AbortController
  readonly #source: AbortSource
  readonly #onAbort: (reason: unknown) => void
  #isListening = false
  #isTold = false

  constructor(controller: AbortController, onAbort: (reason: unknown) => void) {
    this.#controller = controller
    this.#source = abortSourceOf(controller)
    this.#onAbort = onAbort
  }

  /** An earlier abort counts too. */
  check(): void {
    if (this.#source.aborted) this.#tell()
  }

  listenWhile(isUnderWay: boolean): void {
    if (isUnderWay === this.#isListening) return
    this.#isListening = isUnderWay
    if (isUnderWay) {
      this.#source.add(this.#tell)
      this.check()
    } else this.#source.delete(this.#tell)
  }

  /** The executor already knows this reason, so it is not reported again. */
  acknowledge(reason: unknown): void {
    const { aborted, reason: own } = this.#source
    if (aborted && own === reason) this.#isTold = true
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  readonly #tell = (): void => {
    if (this.#isTold) return
    this.#isTold = true
    this.#onAbort(this.#source.reason)
  }
}
