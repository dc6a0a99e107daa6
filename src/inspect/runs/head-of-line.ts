import { type CallRecord, type ExecutorSchedule, explainAdmission } from '../../../machines/index.ts'
import type { WaitedFor } from './seen-call.ts'

/**
 * Why calls waited, just before they could start. Only the head of the queue is checked, however long the queue is: the
 * reasons of the other calls follow from it.
 */
export class HeadOfLine {
  readonly #run: ExecutorSchedule
  #at = 0
  #head: CallRecord | undefined
  #why: WaitedFor | undefined
  #barriers: readonly CallRecord[] = []
  #seen = 0
  /** Where calls name resources, each has a reason of its own. */
  #reasons: Map<CallRecord, WaitedFor> | undefined

  constructor(run: ExecutorSchedule) {
    this.#run = run
  }

  /** Called before each step. */
  look(): void {
    const { calls } = this.#run
    this.#reasons = this.#run.hasKeys ? this.#allReasons() : undefined
    while (this.#at < calls.length && calls[this.#at]?.stage !== 'queued') this.#at++
    this.#head = calls[this.#at]
    this.#seen = calls.length
    this.#barriers = this.#head === undefined ? [] : this.#run.queue.barriers
    this.#why = this.#head && this.#whyOf(this.#head)
  }

  #whyOf(call: CallRecord): WaitedFor | undefined {
    const admission = explainAdmission(call, this.#run)
    if (admission.ok) return undefined
    const { because, blockers, key } = admission
    return { because, blockers: blockers.slice(0, 100), ...(key !== undefined && { key }) }
  }

  #allReasons(): Map<CallRecord, WaitedFor> {
    const reasons = new Map<CallRecord, WaitedFor>()
    for (const call of this.#run.calls.slice(this.#run.completedUpTo)) {
      if (call.stage !== 'queued' && call.stage !== 'held') continue
      const why = this.#whyOf(call)
      if (why !== undefined) reasons.set(call, why)
    }
    return reasons
  }

  /** The call is queued again, perhaps before the current head. */
  goBackTo({ index }: CallRecord): void {
    this.#at = Math.min(this.#at, index)
  }

  reasonFor(call: CallRecord): WaitedFor | undefined {
    if (this.#reasons !== undefined) return this.#reasons.get(call)
    const { index, isSafe } = call
    // it was added just now and did not wait
    if (index >= this.#seen) return undefined
    // a call before the head was not in the queue: it was held
    if (this.#head === undefined || index < this.#head.index) return { because: 'held', blockers: [] }
    if (this.#why?.because === 'exclusiveRunning') return this.#why
    const barrier = this.#barriers.findLast((each) => each.index < index)
    if (barrier !== undefined) return { because: 'behindUnsafe', blockers: [barrier.id] }
    // a safe call waits for a free slot, an unsafe one for all running calls
    return this.#why?.because === 'full' && !isSafe ? { ...this.#why, because: 'waitsForRunning' } : this.#why
  }
}
