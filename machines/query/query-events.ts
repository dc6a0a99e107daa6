import type { LimitReached } from './budget.ts'

/** The possible next steps after a failed stream. */
export type Recovery = 'retry' | 'fallBack' | 'none'

export type QueryEvent =
  | { type: 'query.start' }
  | { type: 'query.abort'; reason: unknown }
  /** The user sends something new: the model stops, tools that yield stop, and the query continues with the message. */
  | { type: 'query.steer' }
  | { type: 'turn.prepared' }
  | { type: 'turn.failed'; error: unknown }
  /** The next request fits into every limit. */
  | { type: 'reserve.granted' }
  /** No further request may be made, in the whole tree. What is under way may finish. */
  | { type: 'limit.reached'; reached: LimitReached }
  /** Precedes it if time is up: what is under way stops. */
  | { type: 'limit.stop'; reached: LimitReached }
  /** `isWhole`: the reply was not cut off, so its last calls are complete. */
  | { type: 'stream.ended'; isWhole: boolean }
  /** The model refused, and there is no fallback model: its reply is dropped. */
  | { type: 'stream.refused' }
  /**
   * The service restarts its reply, or hands it over to another model. `hasEffects`: a call that is not read-only has
   * started, so the partial reply is kept; otherwise it is dropped.
   */
  | { type: 'stream.restarted'; hasEffects: boolean }
  | { type: 'stream.failed'; error: unknown; recovery: Recovery; delayMs: number; hasEffects: boolean }
  | { type: 'retry.due' }
  | { type: 'results.drained' }
  /** The turn of the log is rebuilt. `next` says where it goes on. */
  | { type: 'turn.recovered'; next: 'preparing' | 'draining' | 'deciding' }
  /** Sends no further request: the query ends, to be resumed later. Running work has a grace period. */
  | { type: 'query.suspend'; graceMs: number }
  | { type: 'suspend.due' }
  /** Every call that is left waits for a person. */
  | { type: 'calls.stalled' }
  /** Every body has ended, or its grace period is over. */
  | { type: 'tools.halted' }
  /** Nothing can be recorded any more. */
  | { type: 'journal.failed'; error: unknown }
  /** A background call has an outcome for the model. */
  | { type: 'background.finished' }
  /** A message was sent while only background calls were under way. */
  | { type: 'message.sent' }

export type StreamFailed = Extract<QueryEvent, { type: 'stream.failed' }>
