import { copyInput } from '../base/copy-input.ts'
import type { HookEvent, HookInput } from '../hooks/hook.ts'
import type { ToolCall } from './tool-call.ts'

type Details = { tool_response: unknown; duration_ms?: number } | { error: string; duration_ms?: number } | object

/** The input of a hook, in the format of the Claude Agent SDK. */
export function hookInput(call: ToolCall, event: HookEvent, details: Details): HookInput {
  const { sessionId, transcriptPath, cwd, permissions } = call.context
  const mode = permissions?.mode
  return {
    session_id: textOf(sessionId),
    transcript_path: textOf(transcriptPath),
    cwd: textOf(cwd),
    ...(mode !== undefined && { permission_mode: mode }),
    hook_event_name: event,
    tool_name: call.tool?.name ?? call.name,
    tool_input: ownInput(call),
    tool_use_id: call.id,
    ...details,
  } as HookInput
}

/** A copy of the call's input for code that may change it. */
export function ownInput({ reading, executor }: ToolCall): Record<string, unknown> {
  const input = reading.status === 'valid' ? reading.input : {}
  const copied = copyInput(input, executor.settings.maxInputChars)
  return copied.ok ? (copied.copy as Record<string, unknown>) : input
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
