import type { AssistantMessage, ContentBlock } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** With more siblings, a list per progress message would cost more than it is worth. */
const maxSiblings = 200

interface Seen {
  /** The number of calls when the list was made; a growing reply has more. */
  readonly length: number
  readonly ids: string[]
}

/** The other calls of the same reply, computed once per call and length of the reply. */
export class SiblingIds {
  /** Created when needed, because most calls report no progress. */
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
