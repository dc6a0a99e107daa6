import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import { compactedMark } from './transcript-texts.ts'
import { readList } from './unknown-values.ts'

export interface ResultSize {
  readonly text: string
  /** How many blocks are not text. */
  readonly others: number
  readonly isLong: boolean
}

/** Images and documents cost more than their number of characters. */
const media = new Set<unknown>(['image', 'document'])

/** The size of a result. A compacted result does not count as long. */
export function sizeOf(content: unknown, minChars: number): ResultSize {
  if (typeof content === 'string') {
    return { text: content, others: 0, isLong: content.length > minChars && !content.startsWith(compactedMark) }
  }
  const texts: string[] = []
  let chars = 0
  let others = 0
  for (const block of readList(content) ?? []) {
    const text = readField(block, 'text')
    if (typeof text === 'string') texts.push(text)
    else others++
    chars += typeof text === 'string' ? text.length : charsOf(block, minChars)
  }
  return { text: texts.join('\n'), others, isLong: chars > minChars }
}

const charsOf = (block: unknown, minChars: number): number =>
  media.has(readField(block, 'type')) ? Infinity : describeValue(block, minChars).length
