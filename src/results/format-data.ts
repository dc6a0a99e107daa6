import { describeValue } from '../base/describe-value.ts'
import type { ContentBlock, ToolResultBlock } from '../messages/message.ts'
import { resultTexts } from './result-texts.ts'

export const defaultMaxResultSizeChars = 50_000

/** Converts any data to a result: strings and content blocks unchanged, anything else as JSON. */
export function formatData(data: unknown, toolUseID: string, maxChars: number): ToolResultBlock {
  return withoutEmptyTexts({ type: 'tool_result', tool_use_id: toolUseID, content: contentOf(data, maxChars) })
}

/** Some services reject a result with an empty text in it. */
export function withoutEmptyTexts(block: ToolResultBlock): ToolResultBlock {
  const { content } = block
  if (typeof content === 'string' || !content.some(isEmptyText)) return block
  const kept = content.filter((each) => !isEmptyText(each))
  return { ...block, content: kept.length > 0 || block.is_error === true ? kept : resultTexts.noOutput() }
}

const isEmptyText = ({ type, text }: ContentBlock): boolean => type === 'text' && text === ''

export function isTooLong({ content }: ToolResultBlock, maxChars: number): boolean {
  if (typeof content === 'string') return content.length > maxChars
  let total = 0
  for (const { text } of content) total += typeof text === 'string' ? text.length : 0
  return total > maxChars
}

/** Truncates text that is too long for the model, with a notice; other blocks stay unchanged. */
export function limitSize(block: ToolResultBlock, maxChars: number): ToolResultBlock {
  const { content } = block
  if (typeof content === 'string') {
    return content.length > maxChars
      ? { ...block, content: cut(content, maxChars) }
      : { ...block, content: content.toWellFormed() }
  }
  let left = maxChars
  const kept: ContentBlock[] = []
  for (const each of content) {
    if (typeof each.text !== 'string') kept.push(each)
    else if (left > 0) {
      kept.push({ ...each, text: each.text.length <= left ? each.text.toWellFormed() : cut(each.text, left) })
      left -= each.text.length
    }
    // one notice is enough
    else if (left === 0) {
      kept.push({ type: 'text', text: resultTexts.truncated('', maxChars).trimStart() })
      left = -1
    }
  }
  return { ...block, content: kept }
}

function cut(text: string, maxChars: number): string {
  return resultTexts.truncated(text.slice(0, maxChars).toWellFormed(), maxChars)
}

function contentOf(data: unknown, maxChars: number): string | ContentBlock[] {
  if (data === undefined || data === null || data === '') return resultTexts.noOutput()
  if (typeof data === 'string') return data
  return contentBlocksOf(data) ?? describeValue(data, maxChars)
}

const contentTypes = new Set(['text', 'image', 'document', 'search_result', 'tool_reference'])

/** The data itself if it is a list of blocks that a result may hold. */
function contentBlocksOf(data: unknown): ContentBlock[] | undefined {
  try {
    if (!Array.isArray(data) || data.length === 0 || !contentTypes.has(data[0]?.type)) return undefined
    // copied to fill holes, which `every` would skip
    const blocks = [...data]
    return blocks.every((each) => contentTypes.has(each?.type) && isWhole(each)) ? blocks : undefined
  } catch {
    return undefined
  }
}

const isWhole = (block: ContentBlock): boolean => block.type !== 'text' || typeof block.text === 'string'
