import { readField } from '../base/read-field.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { ContentBlock, Message } from '../messages/message.ts'
import { type Entry, type Slot, turnsOf } from './entry.ts'
import { byTurn, lostResult, placeOwn } from './lay-out.ts'
import { discardedBy, isReplyId } from './message-kind.ts'
import { pairCalls } from './pair-calls.ts'
import { idOf } from './read-block.ts'
import { writeEntries } from './write-entries.ts'

/**
 * Adds a result to each call that has none, as `repairTranscript` does, and changes nothing else. The given array if all
 * calls have results. Separate from the repair, which is several times as large: every `query` needs this part.
 */
export function answerOpenCalls(
  messages: readonly Message[],
  isLeftOpen: (call: ContentBlock) => boolean,
  idsAndTime: IdsAndTime,
): readonly Message[] {
  const discarded = discardedBy(messages)
  const turns = turnsOf(messages.map((message, at) => entryOf(message, at, discarded.has(readField(message, 'uuid')))))
  // one result answers a block that was sent twice, and none can be written for a call without an id
  const open = pairCalls(turns).calls.filter(
    ({ slot, result, twin }) => !result && !twin && slot.id !== '' && !isLeftOpen(slot.block),
  )
  if (open.length === 0) return messages
  const added = byTurn(open, ({ slot, entry }) => lostResult(slot, entry))
  const entries = turns.flatMap((turn, number) => placeOwn(turn, added.get(number) ?? []))
  return writeEntries(entries, 'own', idsAndTime) as Message[]
}

function entryOf(source: Message, at: number, isDiscarded: boolean): Entry {
  const { type } = source
  if (isDiscarded || type === 'progress' || type === 'system') {
    return { at, source, side: 'aside', slots: [], isOpaque: false, state: 'kept' }
  }
  if (type === 'attachment') return { at, source, side: 'user', slots: [], isOpaque: true, state: 'kept' }
  const content = readField(source.message, 'content')
  const slots = Array.isArray(content) ? content.map((block, index) => slotOf(block, index, type)) : []
  const isOpaque = typeof content === 'string' && content !== ''
  const entry: Entry = { at, source, side: type, slots, isOpaque, state: 'kept' }
  const reply = readField(source.message, 'id')
  return type === 'assistant' && isReplyId(reply) ? Object.assign(entry, { reply }) : entry
}

/** Only a model makes calls; a result counts wherever it is. */
function slotOf(block: ContentBlock, index: number, side: Entry['side']): Slot {
  const type = readField(block, 'type')
  const kind = type === 'tool_result' ? 'result' : type === 'tool_use' && side === 'assistant' ? 'call' : 'other'
  return { kind, index, id: idOf(block, kind === 'result' ? 'tool_use_id' : 'id'), isBlank: false, block }
}
