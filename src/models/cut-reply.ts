import { readField } from '../base/read-field.ts'
import type { ContentBlock } from '../messages/message.ts'
import { isKeptData } from './kept-data.ts'

/** Blocks that contain data in a service's own form. */
const ownBlocks = new Set<string>(['openai_item', 'ai_sdk_part'])

/**
 * Marks a block of a reply that did not end. A service that stores its replies does not store this one, and rejects
 * every request that refers to a part of it by id.
 */
export function markCut(block: ContentBlock): ContentBlock {
  if (ownBlocks.has(block.type)) return { ...block, isCut: true }
  if (!isKeptData(block.signature)) return block
  try {
    return { ...block, signature: JSON.stringify({ ...JSON.parse(block.signature), isCut: true }) } as ContentBlock
  } catch {
    return block
  }
}

/** The block belongs to a reply that did not end. */
export function isCut(block: ContentBlock): boolean {
  if (ownBlocks.has(block.type)) return block.isCut === true
  if (!isKeptData(block.signature)) return false
  try {
    return readField(JSON.parse(block.signature), 'isCut') === true
  } catch {
    return false
  }
}
