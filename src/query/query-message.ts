import type { QueryEnding } from '../../machines/index.ts'
import type { DiscardedCall } from '../executor/executor-core.ts'
import type { Message, SystemMessage, Usage } from '../messages/message.ts'
import type { ModelEvent } from '../models/model.ts'

/** One event of the model's stream, as it came. Only where `includeStreamEvents` asks for them. */
export interface StreamEventMessage {
  type: 'stream_event'
  uuid: string
  event: ModelEvent
}

/** The model has finished a reply. */
export interface ModelReplyMessage extends SystemMessage {
  subtype: 'model_reply'
  messageId: string
  model: string | undefined
  stopReason: string
  /** What the service says about it, such as why it refused. */
  stopDetails?: unknown
  usage: Usage | undefined
}

/**
 * The model refused, and nothing had been done for its reply: the messages with the uuids in `discarded` have to go. Of
 * a refusal that a fallback model is asked after, a `model_retry` tells.
 */
export interface ModelRefusalMessage extends SystemMessage {
  subtype: 'model_refusal'
  stopDetails: unknown
  discarded: string[]
  calls: DiscardedCall[]
}

/** The conversation that was given held calls without a result; they have one now, which says that it was lost. */
export interface UnansweredCallsMessage extends SystemMessage {
  subtype: 'unanswered_calls'
  toolUseIDs: string[]
  message: string
}

/**
 * An attempt at a reply failed, and there will be another. `calls` says what had run already. Unless a call that is not
 * read-only had started, nothing of the attempt counts, and the messages with the uuids in `discarded` have to go.
 */
export interface ModelRetryMessage extends SystemMessage {
  subtype: 'model_retry'
  error: string
  errorKind: string
  delayMs: number
  /** From here on the fallback model is asked. */
  isFallback: boolean
  discarded: string[]
  calls: DiscardedCall[]
}

/** Why a query ended, and the last stop reason of the model. */
export type QueryResult = QueryEnding & { readonly stopReason: string | undefined; readonly stopDetails?: unknown }

export type QueryMessage = Message | StreamEventMessage
