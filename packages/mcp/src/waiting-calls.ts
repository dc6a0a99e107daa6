type Listener = (call: string, isWaiting: boolean) => void

/** The calls that wait for one server, by id; the same id may come from two executors. */
export class WaitingCalls {
  readonly #counts = new Map<string, number>()
  readonly #listeners = new Set<Listener>()

  ids(): string[] {
    return [...this.#counts.keys()]
  }

  on(listener: Listener): () => void {
    const own: Listener = (...news) => listener(...news)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Records a call while this runs. */
  async during<Value>(call: string, wait: () => Promise<Value>): Promise<Value> {
    this.#add(call, 1)
    try {
      return await wait()
    } finally {
      this.#add(call, -1)
    }
  }

  #add(call: string, by: 1 | -1): void {
    const before = this.#counts.get(call) ?? 0
    const now = before + by
    if (now === 0) this.#counts.delete(call)
    else this.#counts.set(call, now)
    if (before > 0 && now > 0) return
    for (const listener of [...this.#listeners]) {
      try {
        listener(call, now > 0)
      } catch {
        // an error in a listener must not affect the call
      }
    }
  }
}
