import { invalidOption } from '../base/invalid-option.ts'
import { readField } from '../base/read-field.ts'
import type { BlockLike, ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import type { ToolSchema } from '../tool/tool-schemas.ts'

/** A request to a model, in the form of the Messages API. */
export interface ModelRequest {
  /** Calls have their original ids, from any service. */
  readonly messages: readonly ApiMessage[]
  readonly tools: readonly ToolSchema[]
  readonly system?: string | readonly BlockLike[]
  /** The container in which the service ran code for the last reply; the service needs it back while that code waits for results. */
  readonly container?: { readonly id: string; readonly [key: string]: unknown }
  /** Aborts when the reply is no longer needed; the stream must then end or throw. */
  readonly signal: AbortSignal
}

/** Why a model stopped. An unknown reason counts as an end without calls to wait for. */
export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | (string & {})

/** A piece of a block. Unknown kinds are ignored. */
export type BlockDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'citations_delta'; citation: unknown }

/** The events of a streamed reply in the form of the Messages API; adapters convert other services to it. */
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
  /** The service failed in mid-stream. */
  | { type: 'error'; error: { type: string; message: string } }
  | { type: 'ping' }

/** What is known about a model before its first reply. */
export interface ModelInfo {
  /** The name that the service is asked for. */
  readonly name?: string | undefined
  /** The most tokens that a reply may have: `max_tokens` and its like. */
  readonly maxOutputTokens?: number | undefined
}

/** A model: a function from a request to the events of its reply. Adapters create one from the client of a service. */
export interface Model {
  (request: ModelRequest): AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>
  /** For limits and prices. Adapters set it. */
  readonly info?: ModelInfo | undefined
}

/** Adds what the options of an adapter say about a model. */
export function withInfo(model: Model, name: unknown, maxOutputTokens: unknown): Model {
  const info: ModelInfo = {
    ...(typeof name === 'string' && { name }),
    ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
  }
  return Object.assign(model, { info })
}

/** Throws when the model is created, not at the first request. */
export function assertClient(client: unknown, maker: string, path: readonly string[]): void {
  const method = path.reduce<unknown>((value, key) => readField(value, key), client)
  if (typeof method === 'function') return
  invalidOption(maker, `a client with ${path.join('.')}()`, client)
}
