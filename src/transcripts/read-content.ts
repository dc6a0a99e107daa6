import { describeValue } from '../base/describe-value.ts'
import { type Entry, type Form, markChanged, type Slot } from './entry.ts'
import { isReplyId } from './message-kind.ts'
import type { IdMint } from './mint-id.ts'
import { readBlock } from './read-block.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'
import { readList } from './unknown-values.ts'

/** A message as given. */
export interface Given {
  readonly source: unknown
  readonly at: number
  readonly form: Form
  readonly replyIds: IdMint
}

interface Content {
  readonly side: 'assistant' | 'user'
  readonly content: unknown
  readonly state: Entry['state']
  /** The id of an assistant message of our own form. */
  readonly reply?: unknown
}

/** The entries of a message with content: one, several if the message must be split, or none. */
export function readContent(given: Given, { side, content, state, reply }: Content, report: Report): Entry[] {
  const { source, at, form } = given
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : readList(content)
  if (content === '') report({ code: 'empty_message', at, message: problemTexts.emptyMessage, done: 'dropped' })
  else if (blocks === undefined) {
    const message = problemTexts.notAMessage(`its content is ${describeValue(content, 80)}`)
    report({ code: 'bad_message', at, message, done: 'dropped' })
  }
  if (content === '' || blocks === undefined) return []
  const entry: Entry = { at, source, side, slots: [], isOpaque: false, state }
  for (const [index, block] of blocks.entries()) {
    const slot = readBlock(block, at, index, report)
    if (slot !== undefined) entry.slots.push(slot)
    if (slot === undefined || slot.block !== block) markChanged(entry)
  }
  if (form === 'own' && side === 'assistant' && state === 'kept') checkReply(entry, content, reply, report)
  const parts = bySide(entry, report)
  return form === 'own' ? withReply(parts, reply, given.replyIds) : parts
}

function checkReply(entry: Entry, content: unknown, reply: unknown, report: Report): void {
  const change = { code: 'bad_message', at: entry.at, done: 'rewritten' } as const
  if (typeof content === 'string') report({ ...change, message: problemTexts.contentNotBlocks })
  if (!isReplyId(reply)) report({ ...change, message: problemTexts.replyWithoutId })
  if (typeof content === 'string' || !isReplyId(reply)) markChanged(entry)
}

/** All assistant parts of one message belong to one reply, even after a split. */
function withReply(parts: Entry[], given: unknown, replyIds: IdMint): Entry[] {
  if (!parts.some(({ side }) => side === 'assistant')) return parts
  const reply = isReplyId(given) ? given : replyIds.mint('msg_repaired')
  return parts.map((part) => (part.side === 'assistant' ? { ...part, reply } : part))
}

/** Calls belong to the assistant, results to the user: a message with misplaced blocks is split there. */
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
