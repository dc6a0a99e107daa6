import { invalidOption } from '../base/invalid-option.ts'
import type { OpenJournalOptions, SessionNote } from './journal.ts'
import { keyOf } from './journal.ts'

const modes = ['create', 'resume', 'either']

export function checkOpening(id: string, { owner, mode }: OpenJournalOptions): void {
  checkId(id)
  if (typeof owner !== 'string' || owner === '') invalidOption('owner', 'a text that names this process', owner)
  if (!modes.includes(mode)) invalidOption('mode', '"create", "resume" or "either"', mode)
}

export function checkId(id: string): void {
  if (typeof id !== 'string' || id === '') invalidOption('id', 'a text that is not empty', id)
}

export function checkNote(note: SessionNote): void {
  const isKnown = ['answer', 'message', 'abort'].includes(note?.type)
  if (!isKnown) invalidOption('note.type', '"answer", "message" or "abort"', note?.type)
  const key: unknown = keyOf(note)
  if (typeof key !== 'string' || key === '')
    invalidOption(note.type === 'answer' ? 'note.question' : 'note.uuid', 'a text that is not empty', key)
}
