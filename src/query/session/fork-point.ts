import { invalidOption } from '../../base/invalid-option.ts'
import type { Message } from '../../messages/message.ts'

/** The conversation up to a message, and on to the end of its turn: a fork never separates calls from their results. */
export function messagesUpTo(transcript: readonly Message[], uuid: string): Message[] {
  const at = transcript.findIndex((message) => message.uuid === uuid)
  if (at < 0) {
    invalidOption('fork: at', 'the uuid of a message in the transcript', uuid)
  }
  let end = at + 1
  while (end < transcript.length && continuesTurn(transcript[end - 1] as Message, transcript[end] as Message)) end++
  return transcript.slice(0, end)
}

/** Parts of one reply, its results and what its calls left beside them. */
function continuesTurn(before: Message, message: Message): boolean {
  if (message.type === 'assistant') return before.type === 'assistant' && before.message.id === message.message.id
  if (message.type === 'attachment' || message.type === 'progress') return true
  return message.type === 'user' && 'sourceToolAssistantUUID' in message
}
