import type { CallRecord } from '../call/call-record.ts'
import type { CallQueue } from './call-queue.ts'
import { OrderedLane } from './ordered-lane.ts'

/**
 * The queue of a turn whose calls name no resources. Only the first call that is not held can be next: if it may not
 * start, nothing after it may. So a check costs O(1), however long the queue.
 */
export class WaitingQueue implements CallQueue {
  readonly #ready = new OrderedLane<CallRecord>((call) => call.stage === 'queued')
  readonly #readyUnsafe = new OrderedLane<CallRecord>((call) => call.stage === 'queued' && !call.isSafe)
  readonly #heldUnsafe = new OrderedLane<CallRecord>((call) => call.stage === 'held' && !call.isSafe)

  enter(call: CallRecord): void {
    if (call.stage === 'queued') {
      this.#ready.insert(call)
      if (!call.isSafe) this.#readyUnsafe.insert(call)
    } else if (!call.isSafe) this.#heldUnsafe.insert(call)
  }

  // the stages of the calls contain all that is needed
  started(): void {}
  left(): void {}
  conflictWith(): undefined {}
  rekeyed(): void {}

  isInTheWay(): boolean {
    return true
  }

  get next(): CallRecord | undefined {
    const first = this.#ready.first
    return first === undefined || this.barrierBefore(first) !== undefined ? undefined : first
  }

  get barriers(): readonly CallRecord[] {
    return [this.#readyUnsafe.first, this.#heldUnsafe.first].filter((call) => call !== undefined)
  }

  barrierBefore(call: CallRecord): CallRecord | undefined {
    const held = this.#heldUnsafe.first
    if (held !== undefined && held.index < call.index) return held
    const first = this.#readyUnsafe.first
    return first !== undefined && first.index < call.index ? first : undefined
  }
}
