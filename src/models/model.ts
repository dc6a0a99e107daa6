import type { BlockLike, ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import type { ToolSchema } from '../tool/tool-schemas.ts'

/** What a model is asked, in the Messages API's form. */
export interface ModelRequest {
  /** Calls have the ids that they came with, from whichever service. */
  readonly messages: readonly ApiMessage[]
  readonly tools: readonly ToolSchema[]
  readonly system?: string | readonly BlockLike[]
  /** Where the service ran code for the last reply, as it said; it wants it back while that code waits for results. */
  readonly container?: { readonly id: string; readonly [key: string]: unknown }
  /** Aborts when nobody waits for the answer any more; the stream has to end, by itself or by throwing. */
  readonly signal: AbortSignal
}

/** Why a model stopped. Others may come; they count as an end without calls to wait for. */
export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | (string & {})

/** What a piece of a block brings. Unknown kinds are passed over. */
export type BlockDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'citations_delta'; citation: unknown }

/** The events of a streamed reply: those of the Messages API, which other services are translated into. */
export type ModelEvent =
  | {
      type: 'message_start'
      message: { id: string; model?: string; usage?: unknown; [key: string]: unknown }
    }
  | { type: 'content_block_start'; index: number; content_block: ContentBlock }
  | { type: 'content_block_delta'; index: number; delta: BlockDelta }
  | { type: 'content_block_stop'; index: number }
  | {
      type: 'message_delta'
      delta: { stop_reason?: StopReason | null; [key: string]: unknown }
      usage?: unknown
    }
  | { type: 'message_stop' }
  /** The service gave up in mid-stream. */
  | { type: 'error'; error: { type: string; message: string } }
  | { type: 'ping' }

/** A model: one function from a request to the events of its reply. Adapters make one from a client of a service. */
export type Model = (request: ModelRequest) => AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>
