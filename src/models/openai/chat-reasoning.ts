import type { ContentBlock } from '../../messages/message.ts'
import { keptData } from '../kept-data.ts'
import { asList, asRecord, asText } from '../read-event.ts'

type Fields = Record<string, unknown>

/**
 * The reasoning of a reply, in the fields of the message in which it came. As plain text it goes back once calls were
 * made since the user last spoke: some services demand it from there on, and others refuse it before. What a service
 * signed or put into its content always goes back.
 */
export function chatReasoning(blocks: readonly ContentBlock[], isAmongCalls: boolean): Fields {
  const fields: Fields = {}
  const details: unknown[] = []
  for (const block of blocks) {
    const kept = keptData('openai_chat', block)
    if (kept === undefined || block.type === 'tool_use') continue
    if (asRecord(kept.extra_content) !== undefined) fields.extra_content = kept.extra_content
    details.push(...asList(kept.reasoning_details))
    const field = block.type === 'thinking' ? asText(kept.field) : undefined
    if (field === undefined || field === 'content' || !isAmongCalls) continue
    fields[field] = (asText(fields[field]) ?? '') + (asText(block.thinking) ?? '')
  }
  if (details.length > 0) fields.reasoning_details = details
  if (blocks.some(isThoughtPart)) fields.content = contentParts(blocks)
  return fields
}

const isThoughtPart = (block: ContentBlock): boolean =>
  block.type === 'thinking' && keptData('openai_chat', block)?.field === 'content'

/** Mistral's form: thinking stands among the parts of the content. */
const contentParts = (blocks: readonly ContentBlock[]): Fields[] =>
  blocks.flatMap((block): Fields[] => {
    if (isThoughtPart(block)) return [{ type: 'thinking', thinking: [{ type: 'text', text: block.thinking }] }]
    return block.type === 'text' && asText(block.text) !== undefined ? [{ type: 'text', text: block.text }] : []
  })
