import type { AbortCause, TimeoutCause } from './abort-precedence.ts'

/** Commands in the imperative, facts in the past. */
export type CallEvent =
  | { type: 'call.start' }
  | { type: 'call.abort'; cause: AbortCause }
  | { type: 'call.interrupt'; cause: AbortCause }
  | { type: 'call.timedOut'; cause: TimeoutCause }
  | { type: 'call.graceEnded' }
  | { type: 'call.yield' }
  | { type: 'input.accepted' }
  | ({ type: 'input.rejected' } & OwnResult)
  /** What the hooks said is known; they may have changed the input. */
  | { type: 'preHooks.finished'; becameUnsafe: boolean }
  /** Neither hooks, rules, mode nor tool have decided: the host has to be asked. */
  | { type: 'permission.undecided' }
  | { type: 'permission.allowed'; becameUnsafe: boolean }
  | { type: 'permission.denied'; stopsTurn: boolean }
  | { type: 'tool.settled'; finished: boolean; willRetry: boolean; needsFormatting: boolean }
  | { type: 'retry.due' }
  | { type: 'postHooks.finished' }
  | ({ type: 'result.formatted' } & OwnResult)

/** A result or an error of the call's own; an error may take the siblings with it. */
export interface OwnResult {
  cancelsSiblings: boolean
  /** The call as people read it, for those it takes with it. */
  description: string
}
