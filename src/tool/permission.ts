import type { DecisionSource, PermissionBehavior } from '../../machines/index.ts'
import type { AssistantMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import type { AnyTool } from './tool.ts'
import type { ToolCallContext } from './tool-use-context.ts'

interface AddsRules {
  /** Rules for the rest of the session: for this turn at once, and in every `newContext` from here on. */
  addRules?: PermissionLists | undefined
}

export type PermissionAnswer =
  /** `updatedInput` replaces the input; schema, deny rules and class are then evaluated again. */
  | ({ behavior: 'allow'; updatedInput?: Record<string, unknown> | undefined } & AddsRules)
  /** `interrupt` ends the whole turn. */
  | ({ behavior: 'deny'; message: string; interrupt?: boolean | undefined } & AddsRules)

/** What the host says when it is asked: its answer, or that somebody answers later by `executor.answer`. */
export type PermissionReply = PermissionAnswer | { behavior: 'later' }

/** Why the host is asked. */
export interface PermissionQuestion {
  readonly because: DecisionSource
  /** The words of the hook or the tool that wants it asked. */
  readonly message?: string
}

/** The host's answer to "may this call run?". It may take as long as it likes: the abort ends it, not a timer. */
export type CanUseTool = (
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  assistantMessage: AssistantMessage,
  toolUseID: string,
  question?: PermissionQuestion,
) => PermissionReply | Promise<PermissionReply>

/** A tool's own word on whether a call may run, with the reason for a person or for the model. */
export interface ToolCheck {
  behavior: PermissionBehavior
  message?: string | undefined
}

/** Lets every call run. Where nobody else has a word, the `permission` phase is skipped, so that it costs nothing. */
export const allowAllTools: CanUseTool = () => ({ behavior: 'allow' })
