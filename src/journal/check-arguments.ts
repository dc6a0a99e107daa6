import { invalidOption } from '../base/invalid-option.ts'
import { isRecord } from '../base/read-field.ts'
import { isSendable } from '../messages/is-content.ts'
import { readRules } from '../permission/permission-settings.ts'
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
  if (note.type === 'answer') checkAnswer(note.answer)
  if (note.type === 'message' && !isSendable(note.content))
    invalidOption('note.content', 'text, content blocks or a user message', note.content)
}

/** An answer is recorded for good: it may come straight from a browser, and a bad one would damage the log. */
export function checkAnswer(answer: unknown): void {
  const { behavior, message, updatedInput, addRules } = Object(answer)
  if (behavior !== 'allow' && behavior !== 'deny') invalidOption('answer.behavior', '"allow" or "deny"', behavior)
  if (message !== undefined && typeof message !== 'string') invalidOption('answer.message', 'a text', message)
  if (updatedInput !== undefined && !isRecord(updatedInput))
    invalidOption('answer.updatedInput', 'an object', updatedInput)
  if (addRules !== undefined) readRules(addRules, 'answer.addRules')
}
