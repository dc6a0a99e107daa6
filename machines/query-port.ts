import type { QueryEnding } from './query-ending.ts'

/**
 * What the chart of a query asks of the world around it. As with a call: a port takes note and returns, the work starts
 * once the charts are at rest, and what came of it arrives as an event.
 */
export interface QueryPort {
  /** A hook wants the query to end after this turn. */
  readonly isHookStopped: boolean
  /** The model waits for something: results of its calls, a message that was sent, or just to go on. */
  readonly isExpected: boolean
  /** No further turn is allowed. */
  readonly isLastTurn: boolean
  /** Gathers what goes to the model. Answers with `turn.prepared` or `turn.failed`. */
  prepare(): void
  /** Asks the model. Answers with `stream.ended` or `stream.failed`. */
  openStream(): void
  /** The model need not go on. */
  stopModel(): void
  /** Lets go of this attempt and all that came of it, and tells the host what had run. */
  discardAttempt(): void
  /** The same, while the stream goes on with another reply. */
  discardReply(): void
  /** Answers with `retry.due`, once the delay is over and nothing of the old attempt runs any more. */
  startBackoff(delayMs: number): void
  /** From here on the other model is asked. */
  useFallback(): void
  /** The reply is over: what was held for its end may start, or never will. */
  closeReply(isWhole: boolean): void
  abortTools(reason: unknown): void
  /** Answers with `results.drained` when each call of the reply has its result. */
  drain(): void
  conclude(ending: QueryEnding): void
}
