import { defaultStamps } from '../messages/ids-and-time.ts'
import { asText } from './read-event.ts'

/** Some services reuse ids, and two replies with the same id would be merged, so a random part is added. */
export function replyId(given: unknown): string | undefined {
  const id = asText(given)
  return id === undefined ? undefined : `${id}_${defaultStamps.uuid().slice(0, 8)}`
}
