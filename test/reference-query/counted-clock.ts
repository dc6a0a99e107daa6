import type { Clock } from '../../src/index.ts'

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/**
 * A clock that stands still until it is moved, and knows which timers are still to come. A timer that is set while
 * others go off waits for the next move, so that a story does not depend on how many there are.
 */
export class CountedClock implements Clock {
  readonly pending = new Map<unknown, Timer>()
  #now = 0
  #timers = 0

  now(): number {
    return this.#now
  }

  setTimeout(fn: () => void, ms: number): unknown {
    this.pending.set(++this.#timers, { due: this.#now + ms, fn })
    return this.#timers
  }

  clearTimeout(id: unknown): void {
    this.pending.delete(id)
  }

  increment(ms: number): void {
    this.#now += ms
    const due = [...this.pending].filter(([, timer]) => timer.due <= this.#now)
    for (const [id, { fn }] of due.sort(([, one], [, other]) => one.due - other.due)) {
      if (this.pending.delete(id)) fn()
    }
  }
}
