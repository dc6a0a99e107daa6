import type { ContentBlock } from './message.ts'
import type { ApiMessage } from './to-api-messages.ts'

const idKeys: Readonly<Record<string, string>> = { tool_use: 'id', tool_result: 'tool_use_id' }
// ids of server tools are the service's own, and no other service sends them

/**
 * Replaces ids that the Messages API rejects: the same id for a call and its result, a different one for every call. In
 * message order, so that earlier messages do not change when later ones are added.
 */
export function cleanIds(messages: ApiMessage[]): ApiMessage[] {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  const clean = (given: string): string => {
    const wanted = given.replace(/[^\w-]/g, '_') || '_'
    let id = wanted
    // starts from a number that is rarely taken, so that many equal ids stay fast
    for (let n = ids.size + 1; taken.has(id); n++) id = `${wanted}_${n}`
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
