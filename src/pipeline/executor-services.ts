import type { AnyActorRef } from 'xstate'
import type { CallEvent } from '../../machines/index.ts'
import type { Clock } from '../base/clock.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message, ProgressMessage } from '../messages/message.ts'
import type { PermissionLists, ReadPermissions } from '../permission/permission-settings.ts'
import type { ResultStore } from '../results/result-store.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { CallReports } from './call-reports.ts'
import type { NamingFailure } from './cancels-siblings.ts'
import type { Policy } from './policy.ts'
import type { ToolCall } from './tool-call.ts'

/** What went wrong without costing a result. */
export type WarningCode =
  /** A body was told to stop, did not, and the turn went on without it. */
  | 'abandoned'
  /** A body that nobody waits for any more sent something; it was dropped. */
  | 'late'
  /** Something after the result of a generator, or something that is neither progress nor result. */
  | 'unexpected_chunk'
  /** The tool returned something other than `{ data }`; it was taken as the data. */
  | 'unexpected_return'
  | 'invalid_new_messages'
  | 'context_modifier_failed'
  /** A callback of the host threw. */
  | 'host_callback_failed'
  /** A tool could not say whether a rule speaks of a call; the stricter reading was taken. */
  | 'rule_check_failed'
  /** A rule names no tool, can never match, or grants any program. Given once for each rule. */
  | 'rule_warning'
  /** A rule that came with an answer cannot be read. */
  | 'invalid_rule'
  /** What a hook put in place of a tool's output could not be used. */
  | 'hook_output_ignored'
  /** The tool's `mapResult` cannot take what a hook put in place of the output, which goes out as it is. */
  | 'hook_output_unmapped'
  /** A body added a call that can only start when the body is over, and waits for it; the call was answered. */
  | 'waits_for_itself'
  /** A tool could not name the resources of a call, which therefore runs alone. */
  | 'resources_failed'
  /** Results that nobody reads exceed `maxUnreadChars`: the raw data of one was dropped, or its text was stored. */
  | 'unread_results'
  /** A tool has a field that other engines read and this one does not. */
  | 'foreign_field'

/** What one call needs of the turn that it belongs to. */
export interface ExecutorServices {
  readonly settings: {
    readonly clock: Clock
    readonly idsAndTime: IdsAndTime
    readonly maxInputChars: number
    readonly abortGraceMs: number
    readonly resultStore: ResultStore | undefined
  }
  readonly canUseTool: CanUseTool | undefined
  /** Nobody needs to be asked. */
  readonly allowsEverything: boolean
  /** Work for when the charts are at rest. */
  push(job: () => void): void
  /** Steps the chart of a call, and then does what the charts ask for. */
  send(actor: AnyActorRef, event: CallEvent): void
  contextFor(call: ToolCall): ToolUseContext
  /** The same as far as it is known: undefined while modifiers, which are user code, wait to be applied. */
  peekContext(call: ToolCall): ToolUseContext | undefined
  /** As far as rules and mode go, only the host has a word on this call. */
  hasPlainPermissions(call: ToolCall): boolean
  /** Rules that came with answers of the host during this turn. */
  readonly addedRules: ReadPermissions['rules']
  addRules(lists: PermissionLists): void
  /** Those whose question is open. */
  readonly askingCalls: ToolCall[]
  readonly report: CallReports
  /** Somebody wants to hear of results ahead of their turn. */
  readonly tellsCompleted: boolean
  tellCompleted(call: ToolCall, messages: readonly Message[]): void
  /** A question that nobody answers now. */
  tellDeferred(call: ToolCall): void
  /** One more call may be at work. */
  readonly hasPlace: boolean
  readonly policy: Policy
  /** The ids of the other calls of the same reply. */
  siblingsOf(call: ToolCall): string[]
  addProgress(call: ToolCall, message: ProgressMessage): void
  /** Starts a body. What it asks of the executor before its first pause is known to be its own. */
  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value
  /** The calls that are not over, but for this one. */
  liveSiblings(call: ToolCall): ToolCall[]
  /** Calls that are added later may be named by it. */
  noteFailure(failure: NamingFailure): void
  /** A call ends the turn for everybody. */
  stopTurn(reason: unknown): void
  warn(call: ToolCall | undefined, code: WarningCode, problem: string, error?: unknown): void
}
