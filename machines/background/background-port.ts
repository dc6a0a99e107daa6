import type { StopCause } from '../call/abort-precedence.ts'
import type { Ending } from '../call/ending.ts'

/** How a call goes to the background. */
export interface Detachment {
  /** For the model, beside the id. */
  readonly note?: string | undefined
  /** The query waits for its outcome before it ends. */
  readonly isAwaited: boolean
  /** What happens to it when the query or the session ends. */
  readonly onEnd: 'stop' | 'leave'
}

/**
 * The surroundings of the background chart. As with a call: a port records the request and returns, the work
 * starts after the charts have finished their step, and the outcome arrives as an event.
 */
export interface BackgroundPort {
  /** Its body ran in an earlier process. */
  readonly needsRecovery: boolean
  /** There are hooks for this outcome of the body. */
  readonly needsPostHooks: boolean
  /** The outcome has to be in the log, and is not. */
  readonly needsRecording: boolean
  /** Answers with `call.recovered`, `tool.settled` or `outcome.unknown`. */
  recover(): void
  /** Answers with `tool.settled`, or first with `call.timedOut`. */
  callTool(): void
  /** Answers with `retry.due`, or with `call.timedOut`. */
  startBackoff(): void
  /** Answers with `postHooks.finished`. */
  runPostHooks(): void
  /** Answers with `result.formatted`. */
  formatResult(): void
  /** The outcome is final; remaining work on it should finish at once. */
  hurry(): void
  /** Aborts the body's signal with the reason; a running body still has its grace period. */
  stop(cause: StopCause): void
  /** Answers with `call.graceEnded`, unless the body settles before. */
  startGrace(): void
  /** The grace period is over: anything the body sends from now on is late. */
  abandon(): void
  conclude(ending: Ending): void
  /** Answers with `outcome.recorded`, unless the log fails. */
  recordOutcome(): void
  /** The outcome can be delivered. */
  announce(): void
  /** Nobody gets its outcome. */
  letGo(): void
}
