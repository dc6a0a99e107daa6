import type { ContentBlock } from '../messages/message.ts'
import { type Entry, type Form, hasContent, madeEntry, type Slot } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts, transcriptTexts } from './transcript-texts.ts'

/** With a word in the place of the user where the beginning is missing. */
export function beginWithUser(entries: Entry[], form: Form, report: Report): Entry[] {
  const at = entries.findIndex((entry) => entry.side === 'assistant' || (entry.side === 'user' && hasContent(entry)))
  const first = entries[at]
  if (first === undefined || isFromUser(first, form)) return entries
  report({ code: 'bad_start', at: first.at, message: problemTexts.badStart, done: 'added' })
  const block: ContentBlock = { type: 'text', text: transcriptTexts.lostBeginning }
  const slot: Slot = { kind: 'text', index: 0, id: '', isBlank: false, block }
  return [...entries.slice(0, at), madeEntry([slot], first.at), ...entries.slice(at)]
}

/** Of plain messages, those of the user can all be looked into; of own ones, attachments cannot. */
const isFromUser = ({ side, isOpaque }: Entry, form: Form): boolean => side === 'user' && (form === 'own' || !isOpaque)
