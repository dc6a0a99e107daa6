import type { AssistantMessage, ContentBlock } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** Beyond this a list per progress message costs more than it tells. */
const maxSiblings = 200

interface Seen {
  /** A reply that grows has more calls. */
  readonly length: number
  readonly ids: string[]
}

/** The other calls of the same reply, looked up once per call and reply as it stands. */
export class SiblingIds {
  /** Made when it is needed: most calls report no progress. */
  #byCall: WeakMap<ToolCall, Seen> | undefined

  of(call: ToolCall): string[] {
    const length = contentOf(call.assistantMessage).length
    this.#byCall ??= new WeakMap()
    const known = this.#byCall.get(call)
    if (known?.length === length) return known.ids
    const ids = length > maxSiblings ? [] : siblingsOf(call)
    this.#byCall.set(call, { length, ids })
    return ids
  }
}

function contentOf({ message }: AssistantMessage): ContentBlock[] {
  return Array.isArray(message?.content) ? message.content : []
}

function siblingsOf({ id, assistantMessage }: ToolCall): string[] {
  return contentOf(assistantMessage).flatMap((block) =>
    block?.type === 'tool_use' && typeof block.id === 'string' && block.id !== id ? [block.id] : [],
  )
}
