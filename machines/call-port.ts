import type { StopCause } from './abort-precedence.ts'
import type { Ending } from './ending.ts'

/**
 * What the chart of one call asks of the world around it. A port takes note and returns; the work itself, and
 * with it all user code, starts once every chart is at rest. What came of it arrives as an event.
 */
export interface CallPort {
  /** The result is known already, nothing will run. */
  readonly isAnswered: boolean
  readonly needsValidation: boolean
  readonly needsPreHooks: boolean
  /** A hook, a rule, the mode or the tool may have a say. */
  readonly needsDeciding: boolean
  /** Since it was permitted, something may have been forbidden. */
  readonly mayBeForbidden: boolean
  /** The host has a say. */
  readonly needsAsking: boolean
  /** There are hooks for how the body ended. */
  readonly needsPostHooks: boolean
  /** Messages of this call that no reader has taken yet. */
  readonly unread: number
  /** Answers with `input.accepted` or `input.rejected`. */
  validate(): void
  /** Answers with `preHooks.finished` or `input.rejected`. */
  runPreHooks(): void
  /** Answers with `permission.allowed`, `permission.denied` or `permission.undecided`. */
  decide(): void
  /** Answers with `permission.allowed`, `permission.denied` or `input.rejected`. */
  askHost(): void
  /** Answers with `tool.settled`, or first with `call.timedOut`. */
  callTool(): void
  /** Answers with `retry.due`, or with `call.timedOut`. */
  startBackoff(): void
  /** Answers with `postHooks.finished`. */
  runPostHooks(): void
  /** Answers with `result.formatted`. */
  formatResult(): void
  /** What is done for a result that stands need not be perfect any more: the answer is due at once. */
  hurry(): void
  /** The call's own signal aborts with the reason; a body that runs still has its grace. */
  stop(cause: StopCause): void
  /** Answers with `call.graceEnded`, unless the body settles before. */
  startGrace(): void
  /** The grace is over: whatever the body sends from here on is late. */
  abandon(): void
  conclude(ending: Ending): void
}
