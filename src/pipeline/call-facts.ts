import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import type { AnyTool, ToolResult } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { KeysAnswer } from './call-keys.ts'
import type { InputReading } from './read-input.ts'

/** Consecutive safe calls: all see the context of the moment when the first of them started. */
export interface SafeGroup {
  base: ToolUseContext | undefined
}

/** What is known of a call when it arrives. */
export interface Arrival {
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly assistantMessage: AssistantMessage
  readonly tool: AnyTool | undefined
  readonly reading: InputReading
  /** The result, where it needs no run. */
  readonly answer: ResultText | undefined
  readonly isSafe: boolean
  readonly keys: KeysAnswer | undefined
  /** The context that its tool was asked with. */
  readonly keysContext: ToolUseContext | undefined
  readonly yieldsToInterrupt: boolean
  readonly isHeld: boolean
  /** The tool has something of its own to say about an input that fits. */
  readonly hasChecks: boolean
  /** The tool has a word on whether its calls may run. */
  readonly hasPermissionCheck: boolean
}

/** The phases whose bodies have to know whether they are still waited for. */
export type Phase = 'validating' | 'preHooks' | 'permission'

/** What became of a call that did not simply succeed; for those who keep books. */
export type Outcome =
  | { readonly status: 'rejected'; readonly message: string }
  | { readonly status: 'failed'; readonly message: string; readonly label: string; readonly error?: unknown }

/** How the body of a call came to its end. */
export type BodyResult =
  | { readonly ok: true; readonly result: ToolResult }
  | { readonly ok: false; readonly error: unknown }
