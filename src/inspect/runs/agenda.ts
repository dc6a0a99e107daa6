interface Item {
  readonly due: number
  readonly seq: number
  readonly act: () => void
}

/**
 * Simulated time, in whole microseconds, so that sums of recorded durations are exact. Actions that are due at the same
 * time run in recorded order. A heap, because a run may have thousands of calls.
 */
export class Agenda {
  now = 0
  readonly #heap: Item[] = []

  /** @param seq the position in the recording; actions without one run in the order they were added */
  add(due: number, seq: number, act: () => void): void {
    const heap = this.#heap
    const item = { due: Math.max(this.now, due), seq, act }
    let at = heap.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >>> 1
      if (!isBefore(item, heap[above] as Item)) break
      heap[at] = heap[above] as Item
      at = above
    }
    heap[at] = item
  }

  /** Runs the next action. Returns false if there is none. */
  step(): boolean {
    const next = this.#shift()
    if (next === undefined) return false
    this.now = next.due
    next.act()
    return true
  }

  #shift(): Item | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0 || last === undefined) return first
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Item, heap[below] as Item)) below++
      if (!isBefore(heap[below] as Item, last)) break
      heap[at] = heap[below] as Item
      at = below
    }
    heap[at] = last
    return first
  }
}

const isBefore = (a: Item, b: Item): boolean => a.due < b.due || (a.due === b.due && a.seq < b.seq)

/** Recorded milliseconds as microseconds, clamped: recordings are untrusted. */
export const toMicros = (ms: number): number => Math.max(0, Math.min(Math.round(ms * 1_000), Number.MAX_SAFE_INTEGER))
