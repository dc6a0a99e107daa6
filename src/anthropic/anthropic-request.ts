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
  const idOf = cleanIds()
  return messages.flatMap(({ role, content }): ApiMessage[] => {
    if (typeof content === 'string') return content === '' ? [] : [{ role, content }]
    const kept = asBlocks(content)
      .filter(isTaken)
      .map(withoutMarks)
      .map((block) => withCleanId(block, idOf))
    return kept.length === 0 ? [] : [{ role, content: kept }]
  })
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

function withCleanId(block: ContentBlock, idOf: (id: unknown) => unknown): ContentBlock {
  if (block.type === 'tool_use') {
    const id = idOf(block.id)
    return id === block.id ? block : { ...block, id }
  }
  if (block.type !== 'tool_result') return block
  const id = idOf(block.tool_use_id)
  return id === block.tool_use_id ? block : { ...block, tool_use_id: id }
}

/** A call and its result get the same new id, and no two calls do. */
function cleanIds(): (id: unknown) => unknown {
  const clean = new Map<string, string>()
  const taken = new Set<string>()
  return (id) => {
    if (typeof id !== 'string' || /^[\w-]+$/.test(id)) return id
    const known = clean.get(id)
    if (known !== undefined) return known
    const wanted = id.replace(/[^\w-]/g, '_') || '_'
    let free = wanted
    for (let n = 2; taken.has(free); n++) free = `${wanted}_${n}`
    taken.add(free)
    clean.set(id, free)
    return free
  }
}
