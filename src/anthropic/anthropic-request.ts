import { cleanIds } from '../messages/clean-ids.ts'
import type { ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asBlocks } from '../model/api-content.ts'
import { isKeptData } from '../model/kept-data.ts'

/** Blocks that only the adapter that made them understands. */
const foreignBlocks = new Set(['openai_item', 'ai_sdk_part'])

/**
 * A transcript as the Messages API takes it back. What another service left in it and this one would refuse is taken
 * out: its thinking, its own items, its marks on blocks, and characters that ids may not have.
 */
export function anthropicMessages(messages: readonly ApiMessage[]): ApiMessage[] {
  const own = messages.flatMap(({ role, content }): ApiMessage[] => {
    if (typeof content === 'string') return content === '' ? [] : [{ role, content }]
    const kept = asBlocks(content).filter(isTaken).map(withoutMarks)
    return kept.length === 0 ? [] : [{ role, content: kept }]
  })
  return cleanIds(own)
}

function isTaken(block: ContentBlock): boolean {
  if (block.type === 'text') return block.text !== ''
  if (block.type === 'thinking') return isRealSignature(block.signature)
  return !foreignBlocks.has(block.type)
}

const isRealSignature = (signature: unknown): boolean =>
  typeof signature === 'string' && signature !== '' && !isKeptData(signature)

function withoutMarks(block: ContentBlock): ContentBlock {
  if (!isKeptData(block.signature)) return block
  const { signature, ...rest } = block
  return rest as ContentBlock
}
