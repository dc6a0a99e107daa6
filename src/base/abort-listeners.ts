/**
 * The listeners of a signal. They share one listener on the signal itself, which exists only while there are any: adding
 * one costs more than a call, and a query and its executors listen to the same signal.
 */
class AbortListeners {
  readonly #signal: AbortSignal
  readonly #listeners = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
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

const known = new WeakMap<AbortSignal, AbortListeners>()

export function abortListenersOf(signal: AbortSignal): AbortListeners {
  const found = known.get(signal) ?? new AbortListeners(signal)
  known.set(signal, found)
  return found
}
