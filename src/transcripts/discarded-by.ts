import { readField } from '../base/read-field.ts'
import { readList } from './read-list.ts'

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
