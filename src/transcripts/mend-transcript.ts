import { invalidOption } from '../base/invalid-option.ts'
import type { ContentBlock } from '../messages/message.ts'
import { dropEmpty } from './drop-empty.ts'
import { type Entry, type Form, hasContent, madeEntry, type Slot, turnsOf } from './entry.ts'
import { layOut } from './lay-out.ts'
import { mendCalls } from './mend-calls.ts'
import { mendServerTools } from './mend-server-tools.ts'
import { messageKind } from './message-kind.ts'
import { pairCalls } from './pair-calls.ts'
import { readEntries } from './read-entries.ts'
import type { Report, TranscriptChange } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'
import { readList } from './unknown-values.ts'

export interface Mended {
  readonly entries: Entry[]
  readonly form: Form
  readonly changes: TranscriptChange[]
}

/** The problems of a transcript and its repaired form; shared by the check and the repair. */
export function mendTranscript(given: unknown): Mended {
  const messages = readList(given)
  if (messages === undefined) {
    invalidOption('messages', 'an array', given)
  }
  const changes: TranscriptChange[] = []
  const report: Report = (change) => changes.push(change)
  const { entries, form } = readEntries(messages, report)
  const turns = turnsOf(dropEmpty(entries, form, report))
  const { calls, loose } = pairCalls(turns)
  const laidOut = layOut(turns, { calls: mendCalls(calls, form, report), loose, form }, report)
  mendServerTools(laidOut, form, report)
  const mended = beginWithUser(dropEmpty(laidOut, form, report), form, report)
  changes.sort((one, other) => one.at - other.at || blockOf(one) - blockOf(other))
  // entries of other kinds alone are not a conversation
  const isConversation = mended.some(({ source }) => messageKind(source).kind !== 'other')
  return { entries: isConversation ? mended : [], form, changes }
}

const blockOf = (change: TranscriptChange): number => ('block' in change ? change.block : -1)

/** Adds a user message at the start if the transcript does not begin with one. */
function beginWithUser(entries: Entry[], form: Form, report: Report): Entry[] {
  const at = entries.findIndex((entry) => entry.side === 'assistant' || (entry.side === 'user' && hasContent(entry)))
  const first = entries[at]
  if (first === undefined || isFromUser(first, form)) return entries
  report({ code: 'bad_start', at: first.at, message: problemTexts.badStart, done: 'added' })
  const block: ContentBlock = { type: 'text', text: transcriptTexts.lostBeginning }
  const slot: Slot = { kind: 'text', index: 0, id: '', isBlank: false, block }
  return [...entries.slice(0, at), madeEntry([slot], first.at), ...entries.slice(at)]
}

/** In the plain form every user message can be inspected; in our own form attachments cannot. */
const isFromUser = ({ side, isOpaque }: Entry, form: Form): boolean => side === 'user' && (form === 'own' || !isOpaque)
