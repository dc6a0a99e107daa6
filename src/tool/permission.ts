import type { DecisionSource, PermissionBehavior } from '../../machines/index.ts'
import type { AssistantMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import type { AnyTool } from './tool.ts'
import type { ToolCallContext } from './tool-use-context.ts'

interface AddsRules {
  /** Rules for the rest of the session: they apply to this turn at once, and to every `newContext` from here on. */
  addRules?: PermissionLists | undefined
}

export type PermissionAnswer =
  /** `updatedInput` replaces the input; schema, deny rules and safety are then checked again. */
  | ({ behavior: 'allow'; updatedInput?: Record<string, unknown> | undefined } & AddsRules)
  /** `interrupt` ends the whole turn. */
  | ({ behavior: 'deny'; message: string; interrupt?: boolean | undefined } & AddsRules)

/** The host's reply: its answer, or `later` if the answer comes through `executor.answer`. */
export type PermissionReply = PermissionAnswer | { behavior: 'later' }

/** Why the host gets this question. */
export interface PermissionQuestion {
  readonly because: DecisionSource
  /** The message of the hook or the tool that requested the question. */
  readonly message?: string
  /** A rule that would prevent this question, for `addRules`. Absent if there is none, as where a hook asks each time. */
  readonly rule?: string
}

/** The host's answer to "may this call run?". There is no timeout; only an abort ends the wait. */
export type CanUseTool = (
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  assistantMessage: AssistantMessage,
  toolUseID: string,
  question?: PermissionQuestion,
) => PermissionReply | Promise<PermissionReply>

/** A tool's own permission decision, with the reason for a person or for the model. */
export interface ToolCheck {
  behavior: PermissionBehavior
  message?: string | undefined
}

/** Allows every call. If no rule, hook or tool decides either, the `permission` phase is skipped and costs nothing. */
export const allowAllTools: CanUseTool = () => ({ behavior: 'allow' })
