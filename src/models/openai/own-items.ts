import type { ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { blocksOf } from '../api-content.ts'
import { asRecord } from '../read-event.ts'

type Item = Record<string, unknown>

/**
 * The Responses API items of a transcript that are sent back unchanged. Three kinds are left out: calls that the service
 * ran under the name of a custom tool, because it would expect an output; requests for approval without an answer; and
 * answers without a request. The service rejects the last two.
 */
export function ownItems(messages: readonly ApiMessage[]): (block: ContentBlock) => Item[] {
  const asked = new Set<unknown>()
  const answered = new Set<unknown>()
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      const item = itemOf(block)
      if (item?.type === 'mcp_approval_request') asked.add(item.id)
      else if (item?.type === 'mcp_approval_response') answered.add(item.approval_request_id)
    }
  }
  const isTaken = (item: Item): boolean => {
    if (item.type === 'mcp_approval_request') return answered.has(item.id)
    if (item.type === 'mcp_approval_response') return asked.has(item.approval_request_id)
    return item.type !== 'custom_tool_call'
  }
  return (block) => {
    const item = itemOf(block)
    return item !== undefined && isTaken(item) ? [item] : []
  }
}

const itemOf = (block: ContentBlock): Item | undefined =>
  block.type === 'openai_item' ? asRecord(block.item) : undefined
