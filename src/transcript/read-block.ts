import { readField } from '../errors/read-field.ts'
import type { ContentBlock } from '../messages/message.ts'
import { describeValue } from '../text/describe-value.ts'
import type { Slot } from './entry.ts'
import { isRecord } from './is-record.ts'
import { readList } from './read-list.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'
import { withFields } from './with-fields.ts'

const maxResultChars = 50_000

export interface Place {
  readonly at: number
  readonly block: number
}

/** The block, mended where that can be done alone; undefined where it has to go. */
export function readBlock(block: unknown, place: Place, report: Report): Slot | undefined {
  const type = isRecord(block) ? readField(block, 'type') : undefined
  if (type === 'text') return readText(block as ContentBlock, place, report)
  if (type === 'tool_result') return readResult(block as ContentBlock, place, report)
  if (typeof type === 'string') return slotOf(type === 'tool_use' ? 'call' : 'other', block as ContentBlock, place)
  report({ code: 'bad_block', ...place, message: problemTexts.badBlock, done: 'dropped' })
  return undefined
}

function slotOf(kind: Slot['kind'], block: ContentBlock, { block: index }: Place): Slot {
  const id = kind === 'call' ? idOf(block, 'id') : kind === 'result' ? idOf(block, 'tool_use_id') : ''
  return { kind, index, id, isBlank: false, block }
}

/** Some number their calls; without any id calls and results can still be paired, in order. */
function idOf(block: ContentBlock, key: string): string {
  const id = readField(block, key)
  return typeof id === 'string' || typeof id === 'number' ? String(id) : ''
}

function readText(block: ContentBlock, place: Place, report: Report): Slot | undefined {
  const text = readField(block, 'text')
  if (typeof text === 'string' && text !== '') {
    return { kind: 'text', index: place.block, id: '', isBlank: text.trim() === '', block }
  }
  if (text === '') report({ code: 'empty_text', ...place, message: problemTexts.emptyText, done: 'dropped' })
  else report({ code: 'bad_block', ...place, message: problemTexts.badBlock, done: 'dropped' })
  return undefined
}

function readResult(block: ContentBlock, place: Place, report: Report): Slot {
  const slot = slotOf('result', block, place)
  if (typeof readField(block, 'tool_use_id') === 'number') {
    report({ code: 'bad_block', ...place, message: problemTexts.numberedResult, done: 'rewritten' })
    slot.block = withFields(block, { type: 'tool_result', tool_use_id: slot.id })
  }
  const content = readField(block, 'content')
  const mended = isResultContent(content) ? content : contentFrom(content)
  if (mended !== content) {
    report({ code: 'bad_block', ...place, message: problemTexts.badResultContent, done: 'rewritten' })
    slot.block = rewritten(slot.block, mended)
  }
  if (readField(block, 'is_error') === true && isEmpty(mended)) {
    const message = problemTexts.emptyErrorResult(slot.id)
    report({ code: 'empty_error_result', ...place, toolUseID: slot.id, message, done: 'rewritten' })
    slot.block = rewritten(slot.block, transcriptTexts.emptyError)
  }
  return slot
}

const rewritten = (block: ContentBlock, content: unknown): ContentBlock =>
  withFields(block, { type: 'tool_result', content })

const isBlock = (value: unknown): boolean => isRecord(value) && typeof readField(value, 'type') === 'string'

const isEmpty = (content: unknown): boolean =>
  content === undefined || content === '' || (Array.isArray(content) && content.length === 0)

function isResultContent(content: unknown): boolean {
  return content === undefined || typeof content === 'string' || (readList(content)?.every(isBlock) ?? false)
}

/** A result is worth keeping, in whatever shape it came. */
function contentFrom(content: unknown): unknown {
  if (content === null) return ''
  const list = readList(content)
  if (list === undefined) return describeValue(content, maxResultChars)
  return list.map((item) => (isBlock(item) ? item : { type: 'text', text: asText(item) }))
}

const asText = (item: unknown): string => (typeof item === 'string' ? item : describeValue(item, maxResultChars))
