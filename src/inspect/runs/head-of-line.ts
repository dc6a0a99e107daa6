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

  constructor(run: ExecutorSchedule) {
    this.#run = run
  }

  /** Called before each step. */
  look(): void {
    const { calls } = this.#run
    while (this.#at < calls.length && calls[this.#at]?.stage !== 'queued') this.#at++
    this.#head = calls[this.#at]
    this.#seen = calls.length
    this.#barriers = this.#head === undefined ? [] : this.#run.queue.barriers
    const admission = this.#head && explainAdmission(this.#head, this.#run)
    const isRefused = admission !== undefined && !admission.ok
    this.#why = isRefused ? { because: admission.because, blockers: admission.blockers.slice(0, 100) } : undefined
  }

  /** The call is queued again, perhaps before the current head. */
  goBackTo({ index }: CallRecord): void {
    this.#at = Math.min(this.#at, index)
  }

  reasonFor({ index, isSafe }: CallRecord): WaitedFor | undefined {
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
