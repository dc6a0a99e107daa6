import type { ContentBlock } from './message.ts'
import type { ApiMessage } from './to-api-messages.ts'

const idKeys: Readonly<Record<string, string>> = { tool_use: 'id', tool_result: 'tool_use_id' }
// ids of server tools are the service's own, and no other service sends them

/** The ids of calls that a service takes: the id nearest to the given one, and another like it if that is taken. */
export type IdRule = (given: string, suffix: string) => string

/** The Messages API: letters, digits, `_` and `-`. */
export const messagesIds: IdRule = (given, suffix) => (given.replace(/[^\w-]/g, '_') || '_') + suffix

/** Up to so many characters, of any kind. */
export const shortIds =
  (most: number): IdRule =>
  (given, suffix) =>
    given.slice(0, most - suffix.length) + suffix

const mistralLength = 9

/** Mistral: nine letters or digits. */
export const mistralIds: IdRule = (given, suffix) => {
  const [end, number] = [given.replace(/[^a-zA-Z0-9]/g, '').slice(-mistralLength), suffix.replace('_', '')]
  return end.padStart(mistralLength, '0').slice(0, mistralLength - number.length) + number
}

/**
 * Replaces ids that a service rejects: the same id for a call and its result, a different one for every call. In
 * message order, so that earlier messages do not change when later ones are added.
 */
export function cleanIds(messages: ApiMessage[], rule: IdRule = messagesIds): ApiMessage[] {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  const clean = (given: string): string => {
    let id = rule(given, '')
    // starts from a number that is rarely taken, so that many equal ids stay fast
    for (let n = ids.size + 1; taken.has(id); n++) id = rule(given, `_${n}`)
    ids.set(given, id)
    taken.add(id)
    return id
  }
  const cleaned = (block: ContentBlock): ContentBlock => {
    const key = idKeys[block.type] ?? ''
    const given = block[key]
    const id = typeof given === 'string' ? (ids.get(given) ?? clean(given)) : given
    return id === given ? block : { ...block, [key]: id }
  }
  try {
    return messages.map(({ role, content }) => ({
      role,
      content: typeof content === 'string' ? content : content.map(cleaned),
    }))
  } catch {
    // an unreadable block: the sender will get the error
    return messages
  }
}
