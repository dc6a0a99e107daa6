import type { PendingRecord } from './pending-records.ts'

/**
 * When a commit begins, each sooner than the one before. `early` and `due`: nobody waits for it, and it begins with the
 * second or the next end of the timer. `awaited`: at the end of this step. `alone`: at once, because nothing else follows.
 */
export type Urgency = 'early' | 'due' | 'awaited' | 'alone'

/** Records that go into one commit, which has not begun. */
export class RecordBatch {
  readonly records: PendingRecord[] = []
  urgency: Urgency
  #waiting: { readonly done: Promise<void>; settle(commit: Promise<void>): void } | undefined

  constructor(urgency: Urgency) {
    this.urgency = urgency
  }

  /** Settles with the commit. */
  get done(): Promise<void> {
    if (this.#waiting !== undefined) return this.#waiting.done
    let settle: (commit: Promise<void>) => void = () => undefined
    const done = new Promise<void>((resolve) => {
      settle = resolve
    })
    // a rejected flush that nobody awaits must not end the process
    done.catch(() => undefined)
    this.#waiting = { done, settle }
    return done
  }

  begun(commit: Promise<void>): void {
    this.#waiting?.settle(commit)
  }
}
