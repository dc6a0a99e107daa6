/** Extra fields that services add to blocks are kept. */
type Fields = { [key: string]: unknown }

export type TextBlock = { type: 'text'; text: string }

export type ThinkingBlock = { type: 'thinking'; thinking: string; signature?: string }

/** A tool call as the model emits it. */
export type ToolUseBlock = { type: 'tool_use'; id: string; name: string; input: unknown }

/** The result of one tool call, in the Messages API's form. */
export type ToolResultBlock = {
  type: 'tool_result'
  tool_use_id: string
  content: string | ContentBlock[]
  is_error?: boolean
}

/** Blocks that are passed on unchanged: those of the Messages API, and those adapters keep for their service. */
export type OtherBlock = {
  type:
    | 'image'
    | 'document'
    | 'search_result'
    | 'redacted_thinking'
    | 'server_tool_use'
    | `${string}_tool_result`
    | 'tool_reference'
    | 'container_upload'
    | 'mcp_tool_use'
    | 'mcp_tool_listing'
    | 'tool_addition'
    | 'tool_removal'
    | 'compaction'
    | 'fallback'
    | 'openai_item'
    | 'ai_sdk_part'
}

/** A block as a client's own types declare it (interfaces), or as a literal. */
export type BlockLike = { readonly type: string } | { readonly type: string; readonly [key: string]: unknown }

/**
 * A message as a client's own types declare it, such as `Anthropic.MessageParam`. A query accepts those of the user and
 * the assistant; its system prompt is an option.
 */
export type MessageLike =
  | { readonly role: 'user' | 'assistant'; readonly content: string | readonly BlockLike[] }
  | { readonly role: 'system'; readonly content?: unknown }

/** A content block of a message; its `type` determines the other fields. */
export type ContentBlock = (TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | OtherBlock) & Fields

export interface AssistantMessage {
  type: 'assistant'
  uuid: string
  timestamp?: string
  message: { id: string; role: 'assistant'; content: ContentBlock[]; [key: string]: unknown }
}

/** A message to the model. `message` can be sent to the API unchanged. */
export interface UserMessage {
  type: 'user'
  uuid: string
  timestamp: string
  message: { role: 'user'; content: string | ContentBlock[] }
  /** The raw data, or the error text, for user interfaces. */
  toolUseResult?: unknown
  sourceToolAssistantUUID?: string
  /** For a message about an interruption by the user: tools were running. */
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
  /** The subject of the progress: the call itself, or a part that the tool named. */
  toolUseID: string
  /** The call that reported it. */
  parentToolUseID: string
  siblingToolUseIDs?: string[]
  data: unknown
  /** How many earlier progress messages of this call were dropped because nobody read them. */
  dropped?: number
}

export type Attachment = { type: string; [key: string]: unknown }

/** Additional content from a tool or a hook, beside the result. */
export interface AttachmentMessage {
  type: 'attachment'
  uuid: string
  timestamp: string
  toolUseID?: string
  attachment: Attachment
}

/** Tokens of one reply, as Anthropic counts them: `input_tokens` excludes tokens read from a cache. */
export interface Usage {
  input_tokens?: number
  output_tokens?: number
  cache_read_input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  [key: string]: unknown
}

export interface SystemMessage {
  type: 'system'
  subtype: string
  uuid: string
  timestamp: string
  /** For `model_reply`. */
  usage?: Usage | undefined
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
