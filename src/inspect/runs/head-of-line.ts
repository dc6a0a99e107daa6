import { type CallRecord, explainAdmission, type RunRecord } from '../../../machines/index.ts'
import type { WaitedFor } from './seen-call.ts'

/**
 * Why calls waited, at the moment before something let them start. Only the first in line is asked about, however long
 * the line: from what it waited for follows what the others did.
 */
export class HeadOfLine {
  readonly #run: RunRecord
  #at = 0
  #head: CallRecord | undefined
  #why: WaitedFor | undefined
  #barriers: readonly CallRecord[] = []
  #seen = 0

  constructor(run: RunRecord) {
    this.#run = run
  }

  /** Before each step, with the charts at rest. */
  look(): void {
    const { calls } = this.#run
    while (this.#at < calls.length && calls[this.#at]?.stage !== 'queued') this.#at++
    this.#head = calls[this.#at]
    this.#seen = calls.length
    this.#barriers = this.#head === undefined ? [] : this.#run.line.barriers
    const admission = this.#head && explainAdmission(this.#head, this.#run)
    const isRefused = admission !== undefined && !admission.ok
    this.#why = isRefused ? { because: admission.because, blockers: admission.blockers.slice(0, 100) } : undefined
  }

  /** It stands in the line again, perhaps before the first. */
  goBackTo({ index }: CallRecord): void {
    this.#at = Math.min(this.#at, index)
  }

  reasonFor({ index, isSafe }: CallRecord): WaitedFor | undefined {
    // it came just now, and did not wait
    if (index >= this.#seen) return undefined
    // what stands before the head was not in the line: it was held
    if (this.#head === undefined || index < this.#head.index) return { because: 'held', blockers: [] }
    if (this.#why?.because === 'exclusiveRunning') return this.#why
    const barrier = this.#barriers.findLast((each) => each.index < index)
    if (barrier !== undefined) return { because: 'behindUnsafe', blockers: [barrier.id] }
    // a safe call minds that too many run, an unsafe one that anything does
    return this.#why?.because === 'full' && !isSafe ? { ...this.#why, because: 'waitsForRunning' } : this.#why
  }
}
