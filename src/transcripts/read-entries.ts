import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'
import type { Entry, Form } from './entry.ts'
import { discardedBy, formOf, isConversation, isReplyId, type MessageKind, messageKind } from './message-kind.ts'
import { IdMint } from './mint-id.ts'
import { type Given, readContent } from './read-content.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'
import { readList } from './unknown-values.ts'

/** Reads every message block by block, and repairs what concerns one message alone. */
export function readEntries(messages: readonly unknown[], report: Report): { entries: Entry[]; form: Form } {
  const kinds = messages.map(messageKind)
  const form = formOf(kinds)
  const isConversational = isConversation(kinds)
  const replyIds = new IdMint(kinds.flatMap((kind) => (kind.kind === 'own' && isReplyId(kind.reply) ? kind.reply : [])))
  const discarded = form === 'own' ? discardedBy(messages) : undefined
  const entries: Entry[] = []
  for (const [at, kind] of kinds.entries()) {
    const given = { source: messages[at], at, form, isConversational, replyIds, isFirst: entries.length === 0 }
    if (kind.kind !== 'none' && discarded?.has(readField(given.source, 'uuid'))) entries.push(asideOf(given))
    else for (const entry of readEntry(given, kind, report)) entries.push(entry)
  }
  return { entries, form }
}

interface GivenInOrder extends Given {
  readonly isFirst: boolean
  /** There is at least one message in the array. */
  readonly isConversational: boolean
}

function readEntry(given: GivenInOrder, kind: MessageKind, report: Report): Entry[] {
  const { source, at, form, isConversational } = given
  if (kind.kind === 'own') return readContent(given, { ...kind, state: 'kept' }, report)
  if (kind.kind === 'plain') return readPlain(given, kind, report)
  if (kind.kind === 'attachment') return [opaqueOf(given)]
  if (kind.kind === 'aside' || (kind.kind === 'other' && form === 'own' && isConversational)) return [asideOf(given)]
  report({ code: 'bad_message', at, message: problemTexts.notAMessage(describeValue(source, 80)), done: 'dropped' })
  return []
}

const asideOf = ({ at, source }: Given): Entry => ({
  at,
  source,
  side: 'aside',
  slots: [],
  isOpaque: false,
  state: 'kept',
})

const opaqueOf = ({ at, source }: Given): Entry => ({
  at,
  source,
  side: 'user',
  slots: [],
  isOpaque: true,
  state: 'kept',
})

function readPlain(given: GivenInOrder, { role, content }: MessageKind & { kind: 'plain' }, report: Report): Entry[] {
  const { at, form, isFirst } = given
  const side = role === 'assistant' ? 'assistant' : 'user'
  if (form === 'own') {
    report({ code: 'bad_message', at, message: problemTexts.plainAmongOwn, done: 'rewritten' })
    return readContent(given, { side, content, state: 'made' }, report)
  }
  if (role === side) return readContent(given, { side, content, state: 'kept' }, report)
  // some models accept system messages in mid-conversation; which ones is not checked here
  if (role === 'system' && !isFirst && isContent(content)) return [opaqueOf(given)]
  const message = role === 'system' ? problemTexts.systemFirst : problemTexts.wrongRole(describeValue(role, 40))
  report({ code: 'wrong_role', at, message, done: 'rewritten' })
  return readContent(given, { side, content, state: 'changed' }, report)
}

const isContent = (content: unknown): boolean => typeof content === 'string' || readList(content) !== undefined
