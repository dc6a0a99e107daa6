import type { Detachment } from '../background/background-port.ts'
import type { AbortCause, TimeoutCause } from './abort-precedence.ts'
import type { Reclassification } from './call-record.ts'
import type { BodyEnd } from './ending.ts'

/** Commands in the imperative, facts in the past tense. */
export type CallEvent =
  | { type: 'call.start' }
  | { type: 'call.abort'; cause: AbortCause }
  | { type: 'call.interrupt'; cause: AbortCause }
  | { type: 'call.timedOut'; cause: TimeoutCause }
  | { type: 'call.graceEnded' }
  /** The body goes on in the background, and the call completes. */
  | { type: 'call.detach'; how: Detachment }
  | { type: 'call.yield' }
  /** With a `change`, the input or the context has given the call other resources: it queues again. */
  | { type: 'input.accepted'; change: Reclassification | undefined }
  | ({ type: 'input.rejected' } & OwnResult)
  /** The hooks have finished; they may have changed the input. */
  | { type: 'preHooks.finished'; change: Reclassification | undefined }
  /** No hook, rule, mode or tool has decided: the host must be asked. */
  | { type: 'permission.undecided' }
  /** The host was asked and did not answer synchronously: the call waits for a person. */
  | { type: 'permission.pending' }
  /** Somebody answers later, outside the host's `canUseTool`. */
  | { type: 'permission.deferred' }
  | { type: 'permission.allowed'; change: Reclassification | undefined }
  | { type: 'permission.denied'; stopsTurn: boolean }
  /** The body runs elsewhere: it waits for a worker, or a worker has picked it up. */
  | { type: 'body.sent' }
  | { type: 'body.pickedUp' }
  | { type: 'tool.settled'; end: BodyEnd; willRetry: boolean; needsFormatting: boolean }
  | { type: 'retry.due' }
  | { type: 'postHooks.finished' }
  | ({ type: 'result.formatted' } & OwnResult)
  /** The call holds all its keys in the locks that it shares with other executors. */
  | { type: 'locks.granted' }
  /** The log has the start of the call, or never will. */
  | { type: 'start.journaled' }
  | { type: 'start.failed' }
  /** A call that ran in an earlier process runs again. */
  | { type: 'call.recovered' }
  /** Whether a call that ran in an earlier process or on another machine took effect is unknown. */
  | ({ type: 'outcome.unknown' } & OwnResult)
  /** The log has the result of the call, or never will. */
  | { type: 'result.recorded' }
  | { type: 'result.unrecorded' }

/** A result or an error of the call's own; an error may cancel the siblings. */
export interface OwnResult {
  /** Every other call, or only those with these ids. */
  cancelsSiblings: boolean | readonly string[]
  /** The call for people, shown in the results of the calls it cancels. */
  description: string
}
