import type { CallPast } from '../journal/open-turn.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import type { AnyTool, ToolResult } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { KeysAnswer } from './call-keys.ts'
import type { InputReading } from './read-input.ts'

/** Consecutive safe calls: all see the context as it was when the first of them started. */
export interface SafeGroup {
  base: ToolUseContext | undefined
}

/** The facts about a call at its arrival. */
export interface Arrival {
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly assistantMessage: AssistantMessage
  readonly tool: AnyTool | undefined
  readonly reading: InputReading
  /** The result, if the call does not need to run. */
  readonly answer: ResultText | undefined
  readonly isSafe: boolean
  readonly keys: KeysAnswer | undefined
  /** The context that its tool got when it named its resources. */
  readonly keysContext: ToolUseContext | undefined
  readonly yieldsToInterrupt: boolean
  readonly isHeld: boolean
  /** The tool has its own checks for a valid input. */
  readonly hasChecks: boolean
  /** The tool has its own permission check. */
  readonly hasPermissionCheck: boolean
  /** How often the model has made this call in a row with an equal result, if that is too often. */
  readonly repeats: number | undefined
  /** It changes nothing. Only known where there is a log. */
  readonly onlyReads: boolean
  /** Its recorded state, from an earlier process. */
  readonly past: CallPast | undefined
}

/** The phases whose code must check whether the chart still waits for it. */
export type Phase = 'recovering' | 'validating' | 'preHooks' | 'permission' | 'locking' | 'journaling'

/** The outcome of a call that did not simply succeed; for telemetry. */
export type Outcome =
  | { readonly status: 'rejected'; readonly message: string }
  | { readonly status: 'failed'; readonly message: string; readonly label: string; readonly error?: unknown }

/** The outcome of a call's body. */
export type BodyResult =
  | { readonly ok: true; readonly result: ToolResult }
  | { readonly ok: false; readonly error: unknown }

/** The input as recorded, with the changes of hooks and host. */
export const inputOf = ({ block, past }: Pick<Arrival, 'block' | 'past'>): unknown =>
  (past?.started ?? past?.asked)?.input ?? block.input
