import { invalidOption } from '../base/invalid-option.ts'
import { beginWithUser } from './begin-with-user.ts'
import { dropEmpty } from './drop-empty.ts'
import type { Entry, Form } from './entry.ts'
import { layOut } from './lay-out.ts'
import { mendCalls } from './mend-calls.ts'
import { mendServerTools } from './mend-server-tools.ts'
import { messageKind } from './message-kind.ts'
import { pairCalls } from './pair-calls.ts'
import { readEntries } from './read-entries.ts'
import { readList } from './read-list.ts'
import type { Report, TranscriptChange } from './transcript-problem.ts'
import { turnsOf } from './turns.ts'

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
