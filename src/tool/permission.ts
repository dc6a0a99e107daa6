import type { AssistantMessage } from '../messages/message.ts'
import type { AnyTool } from './tool.ts'
import type { ToolCallContext } from './tool-use-context.ts'

export type PermissionAnswer =
  /** `updatedInput` replaces the input; schema and class are then evaluated again. */
  | { behavior: 'allow'; updatedInput?: Record<string, unknown> | undefined }
  /** `interrupt` ends the whole turn. */
  | { behavior: 'deny'; message: string; interrupt?: boolean | undefined }

/** The host's answer to "may this call run?". It may take as long as it likes: the abort ends it, not a timer. */
export type CanUseTool = (
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolCallContext,
  assistantMessage: AssistantMessage,
  toolUseID: string,
) => PermissionAnswer | Promise<PermissionAnswer>

/** Lets every call run. The `permission` phase is skipped, so that it costs nothing. */
export const allowAllTools: CanUseTool = () => ({ behavior: 'allow' })
