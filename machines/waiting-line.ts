import type { CallRecord } from './call-record.ts'

/**
 * The calls that have not started, in the order in which the model asked. Only the first one that is not held can
 * ever be next: where it may not start, nothing behind it may either. So a look costs O(1), however long the line.
 */
export class WaitingLine {
  readonly #ready = new OrderedLane((call) => call.stage === 'queued')
  readonly #readyUnsafe = new OrderedLane((call) => call.stage === 'queued' && !call.isSafe)
  readonly #heldUnsafe = new OrderedLane((call) => call.stage === 'held' && !call.isSafe)

  enter(call: CallRecord): void {
    if (call.stage === 'queued') {
      this.#ready.insert(call)
      if (!call.isSafe) this.#readyUnsafe.insert(call)
    } else if (!call.isSafe) this.#heldUnsafe.insert(call)
  }

  /** The call that is next to start, unless an unsafe call that is still held stands before it. */
  get next(): CallRecord | undefined {
    const first = this.#ready.first
    return first === undefined || this.barrierBefore(first) !== undefined ? undefined : first
  }

  /** The first unsafe call that waits, and the first that is held: whoever stands behind one does not pass it. */
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

/** How many calls that have left a lane may stand at its head. */
const mostLeft = 64

/** A queue by emission order. Who left the line is dropped when it comes to the front. */
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
    // not each time: a list that is emptied is given new room when it is filled
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
