import type { AbortSource } from './abort-source.ts'

/** The platform's controller without its constructor: a signal costs more than a call, and most signals are never read. */
const BareAbortController = function BareAbortController() {} as unknown as new () => object
BareAbortController.prototype = AbortController.prototype

/** A controller whose signal is created when somebody reads it, or when it aborts. */
export class LazyAbortController extends BareAbortController implements AbortController, AbortSource {
  #real: AbortController | undefined
  #listeners: Set<() => void> | undefined

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Nobody else can abort its signal. */
  abort(reason?: unknown): void {
    if (this.aborted) return
    this.#controller.abort(reason)
    // a copy, because a listener may remove itself
    for (const listener of [...(this.#listeners ?? [])]) listener()
  }

  get aborted(): boolean {
    return this.#real?.signal.aborted === true
  }

  get reason(): unknown {
    return this.#real?.signal.reason
  }

  add(listener: () => void): void {
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
  }

  delete(listener: () => void): void {
    this.#listeners?.delete(listener)
  }

  get #controller(): AbortController {
    this.#real ??= new AbortController()
    return this.#real
  }
}
