import { isContent } from '../messages/is-content.ts'
import { checkAnswer } from './check-arguments.ts'
import type { JournalRecord } from './journal.ts'

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown): boolean => typeof value === 'string'
const isList = (value: unknown, isEach: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isEach)

/** A message that can stand in a conversation and be found by its uuid. */
function isKept(value: unknown): boolean {
  const { type, uuid, message } = Object(value)
  if (type !== 'user' && type !== 'assistant') return isText(type)
  const { role = type, content } = Object(message)
  return isText(uuid) && role === type && isContent(content)
}

const hasMessages = ({ messages }: Fields): boolean => isList(messages, isKept)
const hasTaken = ({ took }: Fields): boolean => isList(took, isText)

const checks: { readonly [type: string]: (fields: Fields) => boolean } = {
  'session.created': ({ messages = [] }) => isList(messages, isKept),
  'message.sent': ({ message }) => isKept(message),
  'reply.started': (fields) => isText(fields.reply) && hasTaken(fields),
  'reply.block': ({ reply, message }) =>
    isText(reply) && isKept(message) && Array.isArray(Object(message).message.content),
  'reply.stopped': ({ reply, reports }) => isText(reply) && isList(reports, isKept),
  'attempt.discarded': ({ reply, kept = [] }) => isText(reply) && isList(kept, isText),
  'turn.committed': ({ reply, read = [] }) => isText(reply) && isList(read, isText),
  'permission.asked': ({ question, shown }) => isText(question) && isText(Object(Object(shown).because).by),
  'permission.answered': ({ answer }) => {
    checkAnswer(answer)
    return true
  },
  'call.completed': hasMessages,
  'background.finished': hasMessages,
  'background.delivered': hasMessages,
  'run.ended': (fields) => hasMessages(fields) && hasTaken(fields),
}

/** Whether a record has the fields that a conversation is built from. Somebody may have edited the log. */
export function hasItsFields(record: JournalRecord): boolean {
  try {
    return checks[record.t]?.(record) ?? true
  } catch {
    return false
  }
}
