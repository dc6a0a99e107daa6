/**
 * Who listens to a signal. On the signal itself there is one listener for all of them, and only while there are any:
 * to add one costs more than a call does, and a query and its executors listen to the same.
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
    // a copy: who hears of it may leave
    for (const listener of [...this.#listeners]) listener()
  }
}

const known = new WeakMap<AbortSignal, AbortListeners>()

export function abortListenersOf(signal: AbortSignal): AbortListeners {
  const found = known.get(signal) ?? new AbortListeners(signal)
  known.set(signal, found)
  return found
}
