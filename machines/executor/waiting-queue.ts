import type { CallRecord } from '../call/call-record.ts'

/**
 * The calls that have not started, in the model's order. Only the first one that is not held can be next: if it may not
 * start, nothing after it may. So a check costs O(1), however long the queue.
 */
export class WaitingQueue {
  readonly #ready = new OrderedLane((call) => call.stage === 'queued')
  readonly #readyUnsafe = new OrderedLane((call) => call.stage === 'queued' && !call.isSafe)
  readonly #heldUnsafe = new OrderedLane((call) => call.stage === 'held' && !call.isSafe)

  enter(call: CallRecord): void {
    if (call.stage === 'queued') {
      this.#ready.insert(call)
      if (!call.isSafe) this.#readyUnsafe.insert(call)
    } else if (!call.isSafe) this.#heldUnsafe.insert(call)
  }

  /** The next call to start, unless an unsafe call before it is still held. */
  get next(): CallRecord | undefined {
    const first = this.#ready.first
    return first === undefined || this.barrierBefore(first) !== undefined ? undefined : first
  }

  /** The first waiting unsafe call and the first held one: calls after them do not overtake. */
  get barriers(): readonly CallRecord[] {
    return [this.#readyUnsafe.first, this.#heldUnsafe.first].filter((call) => call !== undefined)
  }

  /** The waiting unsafe call that this one must not overtake. */
  barrierBefore(call: CallRecord): CallRecord | undefined {
    const held = this.#heldUnsafe.first
    if (held !== undefined && held.index < call.index) return held
    const first = this.#readyUnsafe.first
    return first !== undefined && first.index < call.index ? first : undefined
  }
}

/** Maximum number of removed calls at the head of a lane before it is compacted. */
const mostLeft = 64

/** A queue in emission order. Removed calls are dropped when they reach the front. */
class OrderedLane {
  readonly #stillWaits: (call: CallRecord) => boolean
  #calls: CallRecord[] = []
  #head = 0

  constructor(stillWaits: (call: CallRecord) => boolean) {
    this.#stillWaits = stillWaits
  }

  get first(): CallRecord | undefined {
    while (this.#head < this.#calls.length) {
      const call = this.#calls[this.#head] as CallRecord
      if (this.#stillWaits(call)) return call
      this.#head++
    }
    // not each time: refilling an emptied list allocates again
    if (this.#head > mostLeft) {
      this.#calls = []
      this.#head = 0
    }
    return undefined
  }

  insert(call: CallRecord): void {
    const last = this.#calls.at(-1)
    if (last === undefined || last.index < call.index) this.#calls.push(call)
    else this.#calls.splice(this.#placeOf(call), 0, call)
  }

  #placeOf(call: CallRecord): number {
    let low = this.#head
    let high = this.#calls.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#calls[middle] as CallRecord).index < call.index) low = middle + 1
      else high = middle
    }
    return low
  }
}
