import { describeValue } from '../text/describe-value.ts'
import type { Entry, Form, Slot } from './entry.ts'
import { formOf, type MessageKind, messageKind } from './message-kind.ts'
import { readBlock } from './read-block.ts'
import { readList } from './read-list.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'

/** Every message that can be read, block by block; what is wrong with a message alone is mended on the way. */
export function readEntries(messages: readonly unknown[], report: Report): { entries: Entry[]; form: Form } {
  const kinds = messages.map(messageKind)
  const form = formOf(kinds)
  const entries: Entry[] = []
  for (const [at, kind] of kinds.entries()) {
    const isFirst = entries.length === 0
    for (const entry of readEntry({ source: messages[at], at, kind, form, isFirst }, report)) entries.push(entry)
  }
  return { entries, form }
}

interface Given {
  readonly source: unknown
  readonly at: number
  readonly kind: MessageKind
  readonly form: Form
  readonly isFirst: boolean
}

function readEntry(given: Given, report: Report): Entry[] {
  const { source, at, kind, form } = given
  if (kind.kind === 'own') return readContent(given, kind.side, kind.content, report)
  if (kind.kind === 'plain') return readPlain(given, kind, report)
  if (kind.kind === 'attachment') return [{ at, source, side: 'user', slots: [], isOpaque: true, state: 'kept' }]
  if (kind.kind === 'aside' || (kind.kind === 'other' && form === 'own')) {
    return [{ at, source, side: 'aside', slots: [], isOpaque: false, state: 'kept' }]
  }
  report({ code: 'bad_message', at, message: problemTexts.notAMessage(describeValue(source, 80)), done: 'dropped' })
  return []
}

function readPlain(given: Given, { role, content }: MessageKind & { kind: 'plain' }, report: Report): Entry[] {
  const { source, at, form } = given
  if (form === 'own') {
    report({ code: 'bad_message', at, message: problemTexts.plainAmongOwn, done: 'rewritten' })
    return readContent(given, role === 'assistant' ? role : 'user', content, report, 'made')
  }
  if (role === 'assistant' || role === 'user') return readContent(given, role, content, report)
  // in mid-conversation some models take them; which, and where, is not for us to say
  if (role === 'system' && !given.isFirst && isContent(content)) {
    return [{ at, source, side: 'user', slots: [], isOpaque: true, state: 'kept' }]
  }
  const message = role === 'system' ? problemTexts.systemFirst : problemTexts.wrongRole(describeValue(role, 40))
  report({ code: 'wrong_role', at, message, done: 'rewritten' })
  return readContent(given, 'user', content, report, 'changed')
}

const isContent = (content: unknown): boolean => typeof content === 'string' || readList(content) !== undefined

function readContent(
  { source, at, form }: Given,
  side: 'assistant' | 'user',
  content: unknown,
  report: Report,
  state: Entry['state'] = 'kept',
): Entry[] {
  if (content === '') {
    report({ code: 'empty_message', at, message: problemTexts.emptyMessage, done: 'dropped' })
    return []
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : readList(content)
  if (blocks === undefined) {
    const message = problemTexts.notAMessage(`its content is ${describeValue(content, 80)}`)
    report({ code: 'bad_message', at, message, done: 'dropped' })
    return []
  }
  const slots: Slot[] = []
  let isChanged = false
  for (const [index, block] of blocks.entries()) {
    const slot = readBlock(block, at, index, report)
    if (slot !== undefined) slots.push(slot)
    isChanged ||= slot === undefined || slot.block !== block
  }
  if (typeof content === 'string' && side === 'assistant' && form === 'own' && state !== 'made') {
    report({ code: 'bad_message', at, message: problemTexts.contentNotBlocks, done: 'rewritten' })
    isChanged = true
  }
  const entry: Entry = { at, source, side, slots, isOpaque: false, state }
  if (isChanged && state === 'kept') entry.state = 'changed'
  return bySide(entry, report)
}

/** Calls belong to the assistant, results to the user: a message with the wrong ones is split there. */
function bySide(entry: Entry, report: Report): Entry[] {
  const isRight = (slot: Slot): boolean => (sideOf(slot) ?? entry.side) === entry.side
  if (entry.slots.every(isRight)) return [entry]
  const parts: Entry[] = []
  for (const slot of entry.slots) {
    const side = sideOf(slot) ?? entry.side
    if (!isRight(slot)) reportMisplaced(entry, slot, report)
    const last = parts.at(-1)
    if (last?.side === side) last.slots.push(slot)
    else parts.push({ ...entry, side, slots: [slot], state: 'made' })
  }
  const first = parts.find(({ side }) => side === entry.side)
  if (first !== undefined && entry.state !== 'made') first.state = 'changed'
  return parts
}

const sideOf = ({ kind }: Slot): 'assistant' | 'user' | undefined =>
  kind === 'call' ? 'assistant' : kind === 'result' ? 'user' : undefined

function reportMisplaced({ at }: Entry, { kind, index }: Slot, report: Report): void {
  const message = kind === 'call' ? problemTexts.misplacedCall : problemTexts.misplacedResult
  report({ code: 'misplaced_block', at, block: index, message, done: 'moved' })
}
