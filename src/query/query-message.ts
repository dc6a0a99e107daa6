import type { LimitName, QueryEnding } from '../../machines/index.ts'
import type { DiscardedCall } from '../executor/calls-so-far.ts'
import type { Message, SystemMessage, Usage } from '../messages/message.ts'
import type { ModelEvent } from '../models/model.ts'
import type { RunUsage } from '../usage/usage-total.ts'

/** One event of the model's stream, unchanged. Only with `includeStreamEvents`. */
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
  /** Details from the service, such as why it refused. */
  stopDetails?: unknown
  usage: Usage | undefined
}

/**
 * The model refused before its reply had any effects: remove the messages with the uuids in `discarded`. If a fallback
 * model is asked next, there is a `model_retry` message instead.
 */
export interface ModelRefusalMessage extends SystemMessage {
  subtype: 'model_refusal'
  stopDetails: unknown
  discarded: string[]
  calls: DiscardedCall[]
}

/** The given conversation contained calls without a result; each now has one that says the result was lost. */
export interface UnansweredCallsMessage extends SystemMessage {
  subtype: 'unanswered_calls'
  toolUseIDs: string[]
  message: string
}

/**
 * An attempt at a reply failed, and another one follows. `calls` lists what had already run. Unless a call that is not
 * read-only had started, the attempt does not count: remove the messages with the uuids in `discarded`.
 */
export interface ModelRetryMessage extends SystemMessage {
  subtype: 'model_retry'
  error: string
  errorKind: string
  delayMs: number
  /** From now on the fallback model is asked. */
  isFallback: boolean
  discarded: string[]
  calls: DiscardedCall[]
}

/** At least 80 % of a limit are used. Sent once for each limit, in the outermost run. */
export interface LimitWarningMessage extends SystemMessage {
  subtype: 'limit_warning'
  limit: LimitName
  used: number
  max: number
  /** The same in words. */
  message: string
}

/** Why a query ended, the last stop reason of the model, and what the query has used. */
export type QueryResult = QueryEnding & {
  readonly stopReason: string | undefined
  readonly stopDetails?: unknown
  readonly usage: RunUsage
}

export type QueryMessage = Message | StreamEventMessage
