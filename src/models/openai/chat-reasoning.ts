import type { ContentBlock } from '../../messages/message.ts'
import { keptData } from '../kept-data.ts'
import { asList, asRecord, asText } from '../read-event.ts'

type Fields = Record<string, unknown>

/**
 * The reasoning of a reply, in the message fields in which it came. Plain-text reasoning is sent back only if calls were
 * made since the last user message: some services require it then, and others reject it otherwise. Signed reasoning and
 * reasoning inside the content are always sent back.
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

/** Mistral's form: thinking is among the parts of the content. */
const contentParts = (blocks: readonly ContentBlock[]): Fields[] =>
  blocks.flatMap((block): Fields[] => {
    if (isThoughtPart(block)) return [{ type: 'thinking', thinking: [{ type: 'text', text: block.thinking }] }]
    return block.type === 'text' && asText(block.text) !== undefined ? [{ type: 'text', text: block.text }] : []
  })

type Detail = Record<string, unknown>

/** The field of a detail that arrives in pieces, by type. Other details, such as encrypted ones, arrive complete. */
const textFields: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' }

/** OpenRouter's `reasoning_details`: joins the pieces of a detail, because the service needs the details back unchanged. */
export function addDetails(before: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const details = [...before]
  for (const each of pieces) {
    const piece = asRecord(each)
    if (piece === undefined) continue
    const last = asRecord(details.at(-1))
    if (last !== undefined && isPieceOf(last, piece)) details[details.length - 1] = joined(last, piece)
    else details.push(piece)
  }
  return details
}

const isPieceOf = (last: Detail, piece: Detail): boolean =>
  last.type === piece.type && last.index === piece.index && Object.hasOwn(textFields, String(piece.type))

function joined(last: Detail, piece: Detail): Detail {
  const field = textFields[String(piece.type)] as string
  const known = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined))
  return { ...last, ...known, [field]: (asText(last[field]) ?? '') + (asText(piece[field]) ?? '') }
}
