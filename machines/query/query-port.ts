import type { QueryEnding } from './query-ending.ts'

/**
 * The surroundings of the query chart. As with a call: a port records the request and returns, the work
 * starts after the charts have finished their step, and the outcome arrives as an event.
 */
export interface QueryPort {
  /** The log has a turn that is not over. */
  readonly hasOpenTurn: boolean
  /** The conversation ends in calls without results, which are to run. */
  readonly hasOpenCalls: boolean
  /** A hook wants the query to end after this turn. */
  readonly isHookStopped: boolean
  /** The model waits for something: results, a message that was sent, or to continue. */
  readonly needsAnotherTurn: boolean
  /** A background call that the query waits for is not over. */
  readonly awaitsBackground: boolean
  /** The maximum number of turns is reached. */
  readonly isLastTurn: boolean
  /** Limits apply: a request needs a reserve. */
  readonly needsReserve: boolean
  /** Gathers the request for the model. Answers with `turn.prepared` or `turn.failed`. */
  prepare(): void
  /** Runs the calls at the end of the conversation. */
  runOpenCalls(): void
  /** Rebuilds the turn that the log has. Answers with `turn.recovered`. */
  recover(): void
  /** Answers with `suspend.due`. */
  startSuspendGrace(graceMs: number): void
  /** Stops the model and tells bodies that the session is suspended; no result is recorded. Answers with `tools.halted`. */
  haltTools(): void
  /** Nothing can be recorded: calls that have not started never run. Answers with `results.drained`. */
  abandon(): void
  /** Reserves what the request may use. Answers with `reserve.granted` or `limit.reached`, perhaps after others have ended. */
  reserve(): void
  /** The request is not made: it no longer waits for its reserve. */
  leaveReserve(): void
  /** Time is up: stops every body, those in the background too. */
  stopForLimit(): void
  /** Asks the model. Answers with `stream.ended`, `stream.refused` or `stream.failed`. */
  openStream(): void
  /** Stops the model. */
  stopModel(): void
  /** Drops this attempt and everything from it, and reports to the host which calls had run. */
  discardAttempt(): void
  /** The same, while the stream continues with another reply. */
  discardReply(): void
  /** Drops a reply that ended in a refusal, and reports it to the host. */
  discardRefusal(): void
  /** Keeps the partial reply: calls that have not started never run. Reports to the host which calls had run. */
  cutReply(): void
  /** Answers with `retry.due`, after the delay and when nothing of the old attempt runs. */
  startBackoff(delayMs: number): void
  /** From now on the fallback model is asked. */
  useFallback(): void
  /** The reply ended: calls held for its end may start, or never will. */
  closeReply(isWhole: boolean): void
  abortTools(reason: unknown): void
  /** Answers with `results.drained` when each call of the reply has its result. */
  drain(): void
  conclude(ending: QueryEnding): void
}
