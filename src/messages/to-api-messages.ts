import { cleanIds } from './clean-ids.ts'
import type { ContentBlock, Message } from './message.ts'
import { requestMessages } from './request-messages.ts'

/** A message in the form of the Messages API. */
export type ApiMessage = { role: 'user' | 'assistant'; content: string | ContentBlock[] }

/**
 * A transcript in the form of the Messages API: between two replies one user message, with its tool results first, then
 * the rest in order, attachments as text. Progress and system messages are not sent, nor are messages that a
 * `model_retry` message drops. Malformed text is repaired, and ids of other services are replaced: the API rejects
 * both. The result fits a client's own message types.
 */
export function toApiMessages<Param extends { role: string } = ApiMessage>(messages: readonly Message[]): Param[] {
  // clients narrow the blocks further than is known here
  return cleanIds(requestMessages(messages)) as unknown as Param[]
}
