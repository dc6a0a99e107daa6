import type { AssistantMessage, ContentBlock } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** The calls of a reply, looked up once per reply. */
export class SiblingIds {
  readonly #ids = new WeakMap<AssistantMessage, string[]>()

  /** The other calls of the same reply. */
  of({ id, assistantMessage }: ToolCall): string[] {
    const ids = this.#ids.get(assistantMessage) ?? toolUseIdsOf(assistantMessage)
    this.#ids.set(assistantMessage, ids)
    return ids.filter((each) => each !== id)
  }
}

function toolUseIdsOf({ message }: AssistantMessage): string[] {
  const content: unknown = message?.content
  if (!Array.isArray(content)) return []
  return content.flatMap((block: ContentBlock) =>
    block?.type === 'tool_use' && typeof block.id === 'string' ? [block.id] : [],
  )
}
