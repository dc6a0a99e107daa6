import type { DiscardedCall } from '../executor/turn.ts'
import type { Message, SystemMessage } from '../messages/message.ts'
import type { ModelEvent } from '../model/model.ts'

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
  usage: unknown
}

/**
 * An attempt at a reply failed, and there will be another. What it had brought does not count: the messages with the
 * uuids in `discarded` have to go, and `calls` says what had run already.
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

export type QueryMessage = Message | StreamEventMessage
