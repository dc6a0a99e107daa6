import { isRecord, readField } from '../base/read-field.ts'
import type { Form } from './entry.ts'
import { readList } from './unknown-values.ts'

/** The kind of an item of a transcript, and its content if it has any. */
export type MessageKind =
  | { readonly kind: 'own'; readonly side: 'assistant' | 'user'; readonly content: unknown; readonly reply: unknown }
  | { readonly kind: 'plain'; readonly role: string; readonly content: unknown }
  | { readonly kind: 'attachment' | 'aside' | 'other' | 'none' }

export function messageKind(message: unknown): MessageKind {
  if (!isRecord(message)) return { kind: 'none' }
  const type = readField(message, 'type')
  if (typeof type === 'string' && !canBeLookedAt(message)) return { kind: 'none' }
  if (type === 'progress' || type === 'system') return { kind: 'aside' }
  if (type === 'attachment') return { kind: isSendable(readField(message, 'attachment')) ? 'attachment' : 'none' }
  const inner = readField(message, 'message')
  if ((type === 'assistant' || type === 'user') && isRecord(inner)) {
    return { kind: 'own', side: type, content: readField(inner, 'content'), reply: readField(inner, 'id') }
  }
  const role = readField(message, 'role')
  if (typeof role === 'string') return { kind: 'plain', role, content: readField(message, 'content') }
  // a session file may hold entries of other kinds, which are never sent
  return { kind: typeof type === 'string' && type !== 'assistant' && type !== 'user' ? 'other' : 'none' }
}

/** `toApiMessages` merges assistant messages with the same id into one reply. */
export const isReplyId = (id: unknown): id is string => typeof id === 'string' && id !== ''

const ownKinds = new Set(['own', 'attachment', 'aside'])

/** At least one item is a message. Otherwise the array is something else, such as a recording. */
export const isConversation = (kinds: readonly MessageKind[]): boolean =>
  kinds.some(({ kind }) => kind === 'plain' || ownKinds.has(kind))

/** One message of our own form is enough, because the API accepts none of them as they are. */
export function formOf(kinds: readonly MessageKind[]): Form {
  if (kinds.some(({ kind }) => ownKinds.has(kind))) return 'own'
  return kinds.some(({ kind }) => kind === 'plain') ? 'plain' : 'own'
}

/** Attachments are converted to text when they are sent, which must not throw. */
function isSendable(attachment: unknown): boolean {
  try {
    return isRecord(attachment) && typeof { ...attachment }.type === 'string'
  } catch {
    return false
  }
}

/** `toApiMessages` reads these fields of every message, even of those that it does not send. */
function canBeLookedAt(message: Record<string, unknown>): boolean {
  try {
    const { uuid, subtype, discarded } = message
    void [uuid, subtype, Array.isArray(discarded) && [...discarded]]
    return true
  } catch {
    return false
  }
}

const discarding = new Set<unknown>(['model_retry', 'model_refusal'])

/** The ids of the messages that a retry or a refusal discards: `toApiMessages` does not send them. */
export function discardedBy(messages: readonly unknown[]): Set<unknown> {
  const uuids = new Set<unknown>()
  for (const message of messages) {
    if (readField(message, 'type') !== 'system' || !discarding.has(readField(message, 'subtype'))) continue
    for (const uuid of readList(readField(message, 'discarded')) ?? []) uuids.add(uuid)
  }
  return uuids
}
