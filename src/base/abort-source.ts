import { LazyAbortController } from './lazy-abort-controller.ts'

/** Whether a controller has aborted, and who is to hear of it. */
export interface AbortSource {
  readonly aborted: boolean
  readonly reason: unknown
  add(listener: () => void): void
  delete(listener: () => void): void
}

/**
 * The listeners of a signal. They share one listener on the signal itself, which exists only while there are any: adding
 * one costs more than a call, and a query and its executors listen to the same signal.
 */
class SignalListeners implements AbortSource {
  readonly #signal: AbortSignal
  readonly #listeners = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  get aborted(): boolean {
    return this.#signal.aborted
  }

  get reason(): unknown {
    return this.#signal.reason
  }

  add(listener: () => void): void {
    if (this.#listeners.size === 0) this.#signal.addEventListener('abort', this.#tell)
    this.#listeners.add(listener)
  }

  delete(listener: () => void): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0)
      this.#signal.removeEventListener('abort', this.#tell)
  }

  readonly #tell = (): void => {
    // a copy, because a listener may remove itself
    for (const listener of [...this.#listeners]) listener()
  }
}

const known = new WeakMap<AbortSignal, SignalListeners>()

export function abortSourceOf(controller: AbortController): AbortSource {
  if (controller instanceof LazyAbortController) return controller
  const { signal } = controller
  const found = known.get(signal) ?? new SignalListeners(signal)
  known.set(signal, found)
  return found
}
