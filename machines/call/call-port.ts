import type { Detachment } from '../background/background-port.ts'
import type { StopCause } from './abort-precedence.ts'
import type { Reclassification } from './call-record.ts'
import type { Ending } from './ending.ts'

/**
 * The surroundings of the call chart. A port only records the request and returns; the work itself, and
 * with it all user code, starts after every chart has finished its step. The outcome arrives as an event.
 */
export interface CallPort {
  /** The result is already known, nothing will run. */
  readonly isAnswered: boolean
  /** That result is in the log. */
  readonly isRecorded: boolean
  /** Its body has started in an earlier process. */
  readonly needsRecovery: boolean
  readonly needsValidation: boolean
  readonly needsPreHooks: boolean
  /** A hook, a rule, the mode or the tool may decide. */
  readonly needsDeciding: boolean
  /** A rule may have been denied since the call was permitted. */
  readonly mayBeForbidden: boolean
  /** The host may decide. */
  readonly needsAsking: boolean
  /** There is a free slot for a call that waited for a person. */
  readonly hasPlace: boolean
  /** With its changed input it may not go on beside what executes and what waits before it. */
  mustQueueAgain(change: Reclassification): boolean
  /** It shares its keys with other executors. */
  readonly needsLocking: boolean
  /** Something has to be in the log before the body starts. */
  readonly needsJournaling: boolean
  /** The result has to be in the log, and is not. */
  readonly needsRecording: boolean
  /** The messages may be handed over. */
  readonly isDurable: boolean
  /** Somebody takes over bodies that go on in the background, and has room for one more. */
  readonly canDetach: boolean
  /** There are hooks for this outcome of the body. */
  readonly needsPostHooks: boolean
  /** Messages of this call that no reader has taken yet. */
  readonly unread: number
  /** Answers with `call.recovered`, `tool.settled` or `outcome.unknown`. */
  recover(): void
  /** Answers with `locks.granted`, once all its keys are free. */
  takeLocks(): void
  /** Answers with `start.journaled` or `start.failed`. */
  journalStart(): void
  /** Answers with `result.recorded` or `result.unrecorded`. */
  recordResult(): void
  /** Answers with `input.accepted` or `input.rejected`. */
  validate(): void
  /** Answers with `preHooks.finished` or `input.rejected`. */
  runPreHooks(): void
  /** Answers with `permission.allowed`, `permission.denied`, `permission.deferred` or `permission.undecided`. */
  decide(): void
  /** Answers with `permission.allowed`, `permission.denied`, `permission.deferred` or `input.rejected`; first, perhaps, with `permission.pending`. */
  askHost(): void
  /** The host is informed. Answers like `askHost`, once somebody has answered. */
  awaitAnswer(): void
  /** Answers with `tool.settled`, or first with `call.timedOut`. */
  callTool(): void
  /** Answers with `retry.due`, or with `call.timedOut`. */
  startBackoff(): void
  /** Answers with `postHooks.finished`. */
  runPostHooks(): void
  /** Answers with `result.formatted`. */
  formatResult(): void
  /** The result is final; remaining work on it should finish at once. */
  hurry(): void
  /** Aborts the call's own signal with the reason; a running body still has its grace period. */
  stop(cause: StopCause): void
  /** Answers with `call.graceEnded`, unless the body settles before. */
  startGrace(): void
  /** Hands the running body over. From now on it reports to the chart of its background call. */
  detach(how: Detachment): void
  /** The grace period is over: anything the body sends from now on is late. */
  abandon(): void
  conclude(ending: Ending): void
}
