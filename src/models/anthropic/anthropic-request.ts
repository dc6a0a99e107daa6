import { cleanIds } from '../../messages/clean-ids.ts'
import type { ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { asBlocks } from '../api-content.ts'
import { isKeptData, keepData, keptData } from '../kept-data.ts'

/** Blocks that only the adapter that created them understands. */
const foreignBlocks = new Set(['openai_item', 'ai_sdk_part'])

/**
 * A transcript in a form that the Messages API accepts. Removes what another service left in it: thinking, items, marks on
 * blocks, and invalid characters in ids.
 */
export function anthropicMessages(
  messages: readonly ApiMessage[],
  { takesFallbacks = true }: { takesFallbacks?: boolean } = {},
): ApiMessage[] {
  const signs = messages.some(({ content }) => asBlocks(content).some(({ signature }) => isRealSignature(signature)))
  const own = messages.flatMap(({ role, content }): ApiMessage[] => {
    if (typeof content === 'string') return content === '' ? [] : [{ role, content }]
    const kept = asBlocks(content)
      .filter((block) => isTaken(block, signs) && (takesFallbacks || block.type !== 'fallback'))
      .map(withoutMarks)
    const end = kept.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking') + 1
    return end === 0 ? [] : [{ role, content: kept.slice(0, end) }]
  })
  return cleanIds(own)
}

function isTaken(block: ContentBlock, signs: boolean): boolean {
  if (block.type === 'text') return block.text !== ''
  if (block.type !== 'thinking') return !foreignBlocks.has(block.type)
  if (isRealSignature(block.signature)) return true
  // a service that signs its thinking rejects unsigned thinking; a service that does not sign needs all of it back
  return !signs && keptData('anthropic', block) !== undefined
}

const isRealSignature = (signature: unknown): boolean =>
  typeof signature === 'string' && signature !== '' && !isKeptData(signature)

function withoutMarks(block: ContentBlock): ContentBlock {
  if (!isKeptData(block.signature)) return block
  const { signature, ...rest } = block
  const given = keptData('anthropic', block)?.signature
  return (typeof given === 'string' ? { ...rest, signature: given } : rest) as ContentBlock
}

/** The mark for thinking without a signature. It stores the signature as given: missing or empty. */
export const unsignedMark = (signature: unknown): string | undefined =>
  keepData('anthropic', typeof signature === 'string' ? { signature } : {})
