import type { ContentBlock } from './message.ts'
import type { ApiMessage } from './to-api-messages.ts'

const idKeys: Readonly<Record<string, string>> = { tool_use: 'id', tool_result: 'tool_use_id' }

/**
 * Messages with ids that the Messages API takes, whichever service gave them: the same for a call and its result, and
 * another for every call. In the order of the messages, so that what was sent before is not changed by what follows.
 */
export function cleanIds(messages: ApiMessage[]): ApiMessage[] {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  const clean = (given: string): string => {
    const wanted = given.replace(/[^\w-]/g, '_') || '_'
    let id = wanted
    // from a number that is hardly taken, so that many that are alike take no longer than others
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
    // a stranger that cannot be read: whoever sends it will find out
    return messages
  }
}
