import type { ContentBlock, ToolResultBlock } from '../messages/message.ts'
import { resultTexts } from './result-texts.ts'

/** A result that is too long for the model. */
export interface LongResult {
  readonly toolUseID: string
  readonly toolName: string
  readonly text: string
}

/** Stores results that are too long for the model. `signalbox/node` has one that keeps files. */
export interface ResultStore {
  /** Stores the text and returns where it can be read again. If it throws or rejects, the result is truncated. */
  save(result: LongResult): Promise<{ path: string }> | { path: string }
}

/** Maximum size of data that is formatted for a store. */
export const maxStoredChars = 10_000_000

/** How much of a stored result the model sees. */
const previewChars = { head: 2_000, tail: 1_000 }

export function textOf({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}

/** The result with a preview instead of its text; other blocks stay. */
export function withPreview(
  block: ToolResultBlock,
  path: string,
  maxChars: number,
  write: typeof resultTexts.stored = resultTexts.stored,
): ToolResultBlock {
  const preview = previewOf(textOf(block), path, maxChars, write)
  if (typeof block.content === 'string') return { ...block, content: preview }
  const others = block.content.filter(({ text }) => typeof text !== 'string')
  const first: ContentBlock = { type: 'text', text: preview }
  return { ...block, content: [first, ...others] }
}

function previewOf(text: string, path: string, maxChars: number, write: typeof resultTexts.stored): string {
  const head = text.slice(0, Math.min(previewChars.head, maxChars)).toWellFormed()
  const tail = text.slice(-Math.max(1, Math.min(previewChars.tail, maxChars - head.length))).toWellFormed()
  return write({ path, size: text.length, head, tail })
}
