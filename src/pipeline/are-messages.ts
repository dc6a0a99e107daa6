import type { Message } from '../messages/message.ts'

const types = new Set<unknown>(['assistant', 'user', 'progress', 'attachment', 'system'] satisfies Message['type'][])

/**
 * Whether these may stand in a transcript beside a result: messages that can be read, with a result for each call among
 * them and no other. A throw on the way is the tool's.
 */
export function areMessages(messages: unknown): messages is Message[] {
  if (!Array.isArray(messages) || ![...messages].every(isMessage)) return false
  const blocks = messages.flatMap(({ message }: { message?: { content?: unknown } }) => message?.content ?? [])
  const calls = idsOf(blocks, 'tool_use', 'id')
  const results = idsOf(blocks, 'tool_result', 'tool_use_id')
  return calls.length === results.length && calls.every((id, index) => id === results[index])
}

function isMessage(value: unknown): boolean {
  const { type, message, attachment } = Object(value) as Record<string, unknown>
  if (type === 'attachment') return typeof Object(attachment).type === 'string'
  if (type !== 'user' && type !== 'assistant') return types.has(type)
  const { id, content } = Object(message) as { id?: unknown; content?: unknown }
  if (type === 'assistant' && typeof id !== 'string') return false
  if (type === 'user' && typeof content === 'string') return content.trim() !== ''
  return (
    Array.isArray(content) && content.length > 0 && content.every((block) => typeof Object(block).type === 'string')
  )
}

const idsOf = (blocks: unknown[], type: string, key: string): unknown[] =>
  blocks
    .map((block) => Object(block) as Record<string, unknown>)
    .filter((block) => block.type === type)
    .map((block) => block[key])
    .sort()
