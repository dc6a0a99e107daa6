import type { AnyActorRef } from 'xstate'
import type { CallEvent, Reclassification } from '../../machines/index.ts'
import type { Clock } from '../base/clock.ts'
import type { RunLog } from '../journal/run-log.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message, ProgressMessage } from '../messages/message.ts'
import type { PermissionLists, ReadPermissions } from '../permission/permission-settings.ts'
import type { ResultStore } from '../results/long-result.ts'
import type { SharedLocks } from '../tool/locks.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import type { Place } from './body-link.ts'
import type { CallReports } from './call-reports.ts'
import type { NamingFailure } from './cancels-siblings.ts'
import type { BackgroundIntake } from './detaching.ts'
import type { Policy } from './policy.ts'
import type { ToolCall } from './tool-call.ts'

/** Non-fatal problems. */
export type WarningCode =
  /** A body was told to stop but did not, and the turn continued without it. */
  | 'abandoned'
  /** A body that was abandoned or had ended sent something, which was dropped. */
  | 'late'
  /** A generator sent something after its result, or something that is neither progress nor result. */
  | 'unexpected_chunk'
  /** The tool returned something other than `{ data }`, which was taken as the data. */
  | 'unexpected_return'
  | 'invalid_new_messages'
  | 'context_modifier_failed'
  /** A callback of the host threw. */
  | 'host_callback_failed'
  /** A tool's `matchesRule` failed; the stricter reading was applied. */
  | 'rule_check_failed'
  /** A rule matches no tool, can never match, or allows any program. Reported once per rule. */
  | 'rule_warning'
  /** A rule that came with an answer cannot be parsed. */
  | 'invalid_rule'
  /** A hook's replacement for a tool's output could not be used. */
  | 'hook_output_ignored'
  /** The tool's `mapResult` failed for a hook's replacement, which is sent as it is. */
  | 'hook_output_unmapped'
  /** A body waits for a call that it added and that can only start after the body ends; the call got an error result. */
  | 'waits_for_itself'
  /** A tool could not name the resources of a call, which therefore runs alone. */
  | 'resources_failed'
  /** Results that nobody reads exceed `maxUnreadChars`: the raw data of one was dropped, or its text was stored. */
  | 'unread_results'
  /** A call in the background returned a context modifier, which was dropped. */
  | 'context_modifier_dropped'
  /** A modifier changed a key of the context that is not among the `contextKeys` of the session. */
  | 'context_not_durable'
  /** A tool has a field that other engines read and Signalbox ignores. */
  | 'foreign_field'
  /** A body that ran elsewhere returned something that cannot cross over. */
  | 'not_remote'

/** The services of the executor for one of its calls. */
export interface ExecutorServices {
  readonly settings: {
    readonly clock: Clock
    readonly idsAndTime: IdsAndTime
    readonly maxInputChars: number
    readonly abortGraceMs: number
    readonly resultStore: ResultStore | undefined
  }
  /** The id of the session; without one, an id of this turn. */
  readonly session: string
  /** The log of the session; undefined if calls are not recorded. */
  readonly log: RunLog | undefined
  /** Takes over calls that go to the background. */
  readonly background: BackgroundIntake | undefined
  /** Counts the time of bodies. Undefined if the executor belongs to no query. */
  readonly account: Account | undefined
  /** Keys that its calls share with other executors, or with background calls. */
  readonly locks: SharedLocks | undefined
  /** The turn was discarded: it delivers and records nothing from now on. */
  readonly isDiscarded: boolean
  readonly canUseTool: CanUseTool | undefined
  /** No permission check is needed. */
  readonly allowsEverything: boolean
  /** Queues work to run between the steps of the charts. */
  push(job: () => void): void
  /** The same with an argument, without a closure. */
  pushFor(call: ToolCall, job: (call: ToolCall) => void): void
  /** Steps the chart of a call, then runs the requested work. */
  send(actor: AnyActorRef, event: CallEvent): void
  contextFor(call: ToolCall): ToolUseContext
  /** The same without running user code: undefined while modifiers wait to be applied. */
  peekContext(call: ToolCall): ToolUseContext | undefined
  /** The context after all modifiers that have been applied. */
  readonly currentContext: ToolUseContext
  /** The context as it is, and as the modifier of a call would change it now. Undefined if the modifier has been applied. */
  previewContext(call: ToolCall): { readonly before: ToolUseContext; readonly after: ToolUseContext } | undefined
  /** Neither rules nor the mode decide about this call; only the host does. */
  hasPlainPermissions(call: ToolCall): boolean
  /** Rules that came with the host's answers during this turn. */
  readonly addedRules: ReadPermissions['rules']
  /** Throws if one of them cannot be used. */
  checkRules(lists: PermissionLists): void
  addRules(lists: PermissionLists): void
  /** The calls with an open question. */
  readonly askingCalls: ToolCall[]
  readonly report: CallReports
  /** Whether anyone listens to `completed`. */
  readonly tellsCompleted: boolean
  tellCompleted(call: ToolCall, messages: readonly Message[]): void
  /** Reports a question whose answer comes later. */
  tellDeferred(call: ToolCall): void
  /** Reports where a body runs. */
  tellPlaced(call: ToolCall, place: Place): void
  /** Whether one more call may run. */
  readonly hasPlace: boolean
  /** Whether a call that executes must queue again to use other resources. */
  mustQueueAgain(call: ToolCall, change: Reclassification): boolean
  readonly policy: Policy
  /** The ids of the other calls of the same reply. */
  siblingsOf(call: ToolCall): string[]
  addProgress(call: ToolCall, message: ProgressMessage): void
  /** Starts a body. Requests to the executor before the body's first await are attributed to the body. */
  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value
  /** The unfinished calls other than this one. */
  liveSiblings(call: ToolCall): ToolCall[]
  /** Remembers a failure that may cancel calls that are added later. */
  noteFailure(failure: NamingFailure): void
  /** A call ends the whole turn. */
  stopTurn(reason: unknown): void
  warn(call: ToolCall | undefined, code: WarningCode, problem: string, error?: unknown): void
}
