import type { CallRecord, Reclassification } from '../call/call-record.ts'

/** The calls that have not started, and the rule that picks the next one. */
export interface CallQueue {
  /** A call waits, or is held. Called again when a held call is released. */
  enter(call: CallRecord): void
  started(call: CallRecord): void
  /** The call no longer uses its resources: it is completed, or on its way back to the queue. */
  left(call: CallRecord): void
  /** An executing call has other resources now. */
  rekeyed(call: CallRecord): void
  /** A call that executes could not go on with these resources. */
  isInTheWay(call: CallRecord, change: Reclassification): boolean
  /** The next call to start, if there is a slot for it. */
  readonly next: CallRecord | undefined
  /** The first waiting exclusive call and the first held one: calls after them do not overtake. */
  readonly barriers: readonly CallRecord[]
  /** The waiting exclusive call that this one must not overtake. */
  barrierBefore(call: CallRecord): CallRecord | undefined
  /** A call that this one must wait for because of a resource. Undefined where calls name no resources. */
  conflictWith(call: CallRecord): CallRecord | undefined
}
