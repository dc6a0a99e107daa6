/** Any content block of the Messages API; the shapes below are those that Signalbox itself reads or writes. */
export type ContentBlock = { type: string; [key: string]: unknown }

export type TextBlock = { type: 'text'; text: string }

/** A tool call as the model emits it. */
export type ToolUseBlock = { type: 'tool_use'; id: string; name: string; input: unknown }

/** The answer to one tool call, in the Messages API's own shape. */
export type ToolResultBlock = {
  type: 'tool_result'
  tool_use_id: string
  content: string | ContentBlock[]
  is_error?: boolean
}

export interface AssistantMessage {
  type: 'assistant'
  uuid: string
  timestamp?: string
  message: { id: string; role: 'assistant'; content: ContentBlock[]; [key: string]: unknown }
}

/** What goes back to the model. `message` can be sent to the API as it is. */
export interface UserMessage {
  type: 'user'
  uuid: string
  timestamp: string
  message: { role: 'user'; content: string | ContentBlock[] }
  /** The raw data, or the error's text, for user interfaces. */
  toolUseResult?: unknown
  sourceToolAssistantUUID?: string
  /** Of a message that says the user broke something off: tools ran. */
  toolUse?: boolean
}

/** A user message that carries exactly one tool result. */
export interface ToolResultMessage extends UserMessage {
  message: { role: 'user'; content: [ToolResultBlock] }
  sourceToolAssistantUUID: string
}

export interface ProgressMessage {
  type: 'progress'
  uuid: string
  timestamp: string
  /** What the progress is about: the call itself, or something inside it that the tool named. */
  toolUseID: string
  /** The call that reported it. */
  parentToolUseID: string
  siblingToolUseIDs?: string[]
  data: unknown
  /** How many earlier ones of this call were dropped because nobody read them. */
  dropped?: number
}

export type Attachment = { type: string; [key: string]: unknown }

/** What a tool or a hook leaves beside its result. */
export interface AttachmentMessage {
  type: 'attachment'
  uuid: string
  timestamp: string
  toolUseID?: string
  attachment: Attachment
}

export interface SystemMessage {
  type: 'system'
  subtype: string
  uuid: string
  timestamp: string
  [key: string]: unknown
}

export interface StopHookSummary extends SystemMessage {
  subtype: 'stop_hook_summary'
  hookCount: number
  hookInfos: { command: string; durationMs?: number }[]
  hookErrors: string[]
  preventedContinuation: boolean
  stopReason: string | undefined
}

export type Message = AssistantMessage | UserMessage | ProgressMessage | AttachmentMessage | SystemMessage
