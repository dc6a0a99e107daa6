import type { ApiMessage, ContentBlock } from '../../src/index.ts'

/** The first problem of a conversation, if any, in one pass. */
export function invalidity(messages: readonly ApiMessage[]): string | undefined {
  const used = new Set<unknown>()
  let awaited: unknown[] = []
  let lastRole = 'assistant'
  for (const { role, content } of messages) {
    if (content.length === 0) return 'an empty message'
    if (role === lastRole) return `two messages of the ${role} in a row`
    lastRole = role
    const blocks: ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (blocks.some(({ type, text }) => type === 'text' && String(text).trim() === '')) return 'an empty text'
    const answered = idsOf(blocks, 'tool_result', 'tool_use_id')
    if (String(answered) !== String(awaited)) return `asked for ${awaited}, answered ${answered}`
    if (blocks.slice(0, answered.length).some(({ type }) => type !== 'tool_result')) return 'results are not first'
    awaited = idsOf(blocks, 'tool_use', 'id')
    if (role === 'user' && awaited.length > 0) return 'the user calls tools'
    for (const id of awaited) {
      if (used.has(id)) return `the id ${id} twice`
      used.add(id)
    }
  }
  return awaited.length === 0 ? undefined : `${awaited} without a result`
}

const idsOf = (blocks: readonly ContentBlock[], wanted: string, key: string): unknown[] =>
  blocks.filter(({ type }) => type === wanted).map((block) => block[key])
