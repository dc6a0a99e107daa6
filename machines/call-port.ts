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
  readonly needsPermission: boolean
  /** Messages of this call that no reader has taken yet. */
  readonly unread: number
  /** Answers with `input.accepted` or `input.rejected`. */
  validate(): void
  /** Answers with `permission.allowed`, `permission.denied` or `input.rejected`. */
  askHost(): void
  /** Answers with `tool.settled`, or first with `call.timedOut`. */
  callTool(): void
  /** Answers with `result.formatted`. */
  formatResult(): void
  /** The result need not be perfect any more: `result.formatted` is due at once. */
  hurry(): void
  /** The call's own signal aborts with the reason; a body that runs still has its grace. */
  stop(cause: StopCause): void
  /** Answers with `call.graceEnded`, unless the body settles before. */
  startGrace(): void
  /** The grace is over: whatever the body sends from here on is late. */
  abandon(): void
  conclude(ending: Ending): void
}
