import type { ContentBlock } from '../messages/message.ts'
import { type Entry, type Form, hasContent, madeEntry, type Slot } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'

/** Adds a user message at the start if the transcript does not begin with one. */
export function beginWithUser(entries: Entry[], form: Form, report: Report): Entry[] {
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
