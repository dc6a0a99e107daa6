import { defaultStamps } from '../messages/ids-and-time.ts'
import { asText } from './read-event.ts'

/** Not every service gives each reply an id of its own, and two replies with the same id would be taken for one. */
export function replyId(given: unknown): string | undefined {
  const id = asText(given)
  return id === undefined ? undefined : `${id}_${defaultStamps.uuid().slice(0, 8)}`
}
