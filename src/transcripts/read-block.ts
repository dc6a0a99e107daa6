import { describeValue } from '../base/describe-value.ts'
import { isRecord, readField } from '../base/read-field.ts'
import type { ContentBlock } from '../messages/message.ts'
import type { Slot } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'
import { readList, withFields } from './unknown-values.ts'

const maxResultChars = 50_000

/** Reads a block and repairs it if that needs no other block; undefined if the block must be removed. */
export function readBlock(given: unknown, at: number, index: number, report: Report): Slot | undefined {
  const type = isRecord(given) ? readField(given, 'type') : undefined
  const block = given as ContentBlock
  if (type === 'tool_use') return { kind: 'call', index, id: idOf(block, 'id'), isBlank: false, block }
  if (type === 'tool_result') return readResult(block, at, index, report)
  if (type === 'text') return readText(block, at, index, report)
  if (typeof type === 'string') return { kind: 'other', index, id: '', isBlank: false, block }
  report({ code: 'bad_block', at, block: index, message: problemTexts.badBlock, done: 'dropped' })
  return undefined
}

/** Some hosts number their calls. Calls and results without an id are paired in order. */
export function idOf(block: ContentBlock, key: string): string {
  const id = readField(block, key)
  return typeof id === 'string' || typeof id === 'number' ? String(id) : ''
}

function readText(block: ContentBlock, at: number, index: number, report: Report): Slot | undefined {
  const text = readField(block, 'text')
  if (typeof text === 'string' && text !== '') {
    return { kind: 'text', index, id: '', isBlank: text.trim() === '', block }
  }
  if (text === '') report({ code: 'empty_text', at, block: index, message: problemTexts.emptyText, done: 'dropped' })
  else report({ code: 'bad_block', at, block: index, message: problemTexts.badBlock, done: 'dropped' })
  return undefined
}

function readResult(block: ContentBlock, at: number, index: number, report: Report): Slot {
  const slot: Slot = { kind: 'result', index, id: idOf(block, 'tool_use_id'), isBlank: false, block }
  const rewrite = (message: string, fields: object): void => {
    report({ code: 'bad_block', at, block: index, message, done: 'rewritten' })
    slot.block = withFields(slot.block, { type: 'tool_result', ...fields })
  }
  if (typeof readField(block, 'tool_use_id') === 'number') {
    rewrite(problemTexts.numberedResult, { tool_use_id: slot.id })
  }
  const given = readField(block, 'content')
  const content = isResultContent(given) ? given : contentFrom(given)
  if (content !== given) rewrite(problemTexts.badResultContent, { content })
  if (readField(block, 'is_error') === true && isEmpty(content)) {
    const message = problemTexts.emptyErrorResult(slot.id)
    report({ code: 'empty_error_result', at, block: index, toolUseID: slot.id, message, done: 'rewritten' })
    slot.block = withFields(slot.block, { type: 'tool_result', content: transcriptTexts.emptyError })
  }
  return slot
}

const isBlock = (value: unknown): boolean => isRecord(value) && typeof readField(value, 'type') === 'string'

const isEmpty = (content: unknown): boolean =>
  content === undefined || content === '' || (Array.isArray(content) && content.length === 0)

function isResultContent(content: unknown): boolean {
  return content === undefined || typeof content === 'string' || (readList(content)?.every(isBlock) ?? false)
}

/** A result is kept in any shape. */
function contentFrom(content: unknown): unknown {
  if (content === null) return ''
  const list = readList(content)
  if (list === undefined) return describeValue(content, maxResultChars)
  return list.map((item) => (isBlock(item) ? item : { type: 'text', text: asText(item) }))
}

const asText = (item: unknown): string => (typeof item === 'string' ? item : describeValue(item, maxResultChars))
