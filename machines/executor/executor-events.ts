import type { AbortCause } from '../call/abort-precedence.ts'
import type { CallRecord, Reclassification } from '../call/call-record.ts'

export type ExecutorEvent =
  /** With a `cause` it is answered with that cause: a failed call named it among those it cancels. */
  | { type: 'call.add'; call: CallRecord; cause?: AbortCause }
  | { type: 'call.release'; call: CallRecord }
  | { type: 'call.withdraw'; call: CallRecord; because: string }
  /** The reply broke off: calls whose body has not started never run. */
  | { type: 'calls.withdraw'; because: string }
  | { type: 'call.requeued'; call: CallRecord; change: Reclassification | undefined }
  /** A call goes on with other resources. */
  | { type: 'call.rekeyed'; call: CallRecord; change: Reclassification }
  /** A call that waited for a person has its answer. */
  | { type: 'call.paused'; call: CallRecord }
  | { type: 'call.resumed'; call: CallRecord }
  | { type: 'call.completed'; call: CallRecord }
  | { type: 'abort.userInterrupted'; reason: unknown; by?: CallRecord }
  | { type: 'abort.siblingError'; by?: CallRecord; description?: string }
  /** Only the calls with these ids. */
  | { type: 'abort.siblings'; by?: CallRecord; description: string; siblings: readonly string[] }
  /** `reason` is what the signals of the calls carry. */
  | { type: 'abort.streamingFallback'; reason?: unknown }
  | { type: 'results.take' }

export type AddedCall = Extract<ExecutorEvent, { type: 'call.add' }>
export type Requeued = Extract<ExecutorEvent, { type: 'call.requeued' }>
export type Rekeyed = Extract<ExecutorEvent, { type: 'call.rekeyed' }>
export type NamedSiblings = Extract<ExecutorEvent, { type: 'abort.siblings' }>
