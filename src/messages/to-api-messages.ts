import { cleanIds } from './clean-ids.ts'
import type { ContentBlock, Message } from './message.ts'
import { requestMessages } from './request-messages.ts'

/** A message as the Messages API takes it. */
export type ApiMessage = { role: 'user' | 'assistant'; content: string | ContentBlock[] }

/**
 * A transcript as the Messages API takes it: between two replies one user message, its tool results first, then
 * everything else in order, attachments as text. Progress and system messages stay at home, and so does what a
 * `model_retry` message says is not to count. Text that is not well formed is mended, and ids of other services are
 * cleaned: the API refuses both. Where a client has types of its own for them, it gets those.
 */
export function toApiMessages<Param extends { role: string } = ApiMessage>(messages: readonly Message[]): Param[] {
  // clients narrow the blocks further than they can be known here
  return cleanIds(requestMessages(messages)) as unknown as Param[]
}
