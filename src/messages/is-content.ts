import type { Message } from './message.ts'

/** A value with a type, such as a block. */
const isTyped = (value: unknown): boolean => typeof Object(value).type === 'string'

/** Whether this is valid message content: a text, or blocks. */
export const isContent = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every(isTyped))

/** Whether this can be sent to a model: content, or a user message. */
export function isSendable(value: unknown): boolean {
  const { type, message } = Object(value)
  return isContent(type === 'user' ? Object(message).content : value)
}

/**
 * Whether these messages may be added to a transcript beside a result: they are readable, and each call among them has
 * exactly one result. A throw is an error of the tool.
 */
export function areMessages(messages: unknown): messages is Message[] {
  if (!Array.isArray(messages) || ![...messages].every(isMessage)) return false
  const open = new Set<unknown>()
  for (const block of messages.flatMap(({ message }) => message?.content ?? [])) {
    if (block.type === 'tool_use') open.add(block.id)
    else if (block.type === 'tool_result' && !open.delete(block.tool_use_id)) return false
  }
  return open.size === 0
}

function isMessage(value: unknown): boolean {
  const { type, message, attachment } = Object(value)
  if (type === 'progress' || type === 'system') return true
  if (type === 'attachment') return isTyped(attachment)
  const { id, content } = Object(message)
  if (type === 'user' && typeof content === 'string') return content.trim() !== ''
  if (type !== 'user' && (type !== 'assistant' || typeof id !== 'string')) return false
  return Array.isArray(content) && content.length > 0 && content.every(isTyped)
}
