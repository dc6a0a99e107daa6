import { invalidOption } from '../base/invalid-option.ts'
import { aName, anObject, aString, checkOption, oneOf, requireOption } from '../base/option-rules.ts'
import { isSendable } from '../messages/is-content.ts'
import { readAddedRules } from '../permission/permission-settings.ts'
import type { OpenJournalOptions, SessionNote } from './journal.ts'
import { keyOf } from './journal.ts'

const aMode = oneOf('create', 'resume', 'either')
const aType = oneOf('answer', 'message', 'abort')
const aBehavior = oneOf('allow', 'deny')

export function checkOpening(id: string, { owner, mode }: OpenJournalOptions): void {
  checkId(id)
  requireOption('owner', owner, aName)
  requireOption('mode', mode, aMode)
}

export function checkId(id: string): void {
  requireOption('id', id, aName)
}

export function checkNote(note: SessionNote): void {
  requireOption('note.type', note?.type, aType)
  requireOption(note.type === 'answer' ? 'note.question' : 'note.uuid', keyOf(note), aName)
  if (note.type === 'answer') checkAnswer(note.answer)
  if (note.type === 'message' && !isSendable(note.content))
    invalidOption('note.content', 'a string, content blocks or a user message', note.content)
}

/** An answer is recorded for good: it may come straight from a browser, and a bad one would damage the log. */
export function checkAnswer(answer: unknown): void {
  const { behavior, message, updatedInput, addRules } = Object(answer)
  requireOption('answer.behavior', behavior, aBehavior)
  checkOption('answer.message', message, aString)
  checkOption('answer.updatedInput', updatedInput, anObject)
  if (addRules !== undefined) readAddedRules(addRules, 'answer.addRules')
}
