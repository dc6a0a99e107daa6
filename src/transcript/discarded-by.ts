import { readField } from '../errors/read-field.ts'
import { readList } from './read-list.ts'

/** The ids of the messages that a retry says are not to count: `toApiMessages` does not send them. */
export function discardedBy(messages: readonly unknown[]): Set<unknown> {
  const uuids = new Set<unknown>()
  for (const message of messages) {
    if (readField(message, 'type') !== 'system' || readField(message, 'subtype') !== 'model_retry') continue
    for (const uuid of readList(readField(message, 'discarded')) ?? []) uuids.add(uuid)
  }
  return uuids
}
