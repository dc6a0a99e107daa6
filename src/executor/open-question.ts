import { ownInput } from '../pipeline/hook-input.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { PermissionQuestion } from '../tool/permission.ts'

/** A call that waits for the host's answer. */
export interface OpenQuestion extends PermissionQuestion {
  readonly toolUseID: string
  readonly toolName: string
  readonly input: unknown
}

export const questionOf = (call: ToolCall): OpenQuestion => ({
  toolUseID: call.id,
  toolName: call.name,
  input: ownInput(call),
  ...call.permit.question,
})
