import type { ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { blocksOf } from '../api-content.ts'
import { asRecord } from '../read-event.ts'

type Item = Record<string, unknown>

/**
 * The Responses API items of a transcript that are sent back unchanged. Left out are calls that the service ran under
 * the name of a custom tool, calls of OpenAI's client-side tools without an output, requests for approval without an
 * answer, and answers without a request. The service would expect an output for the first two, and rejects the others.
 */
export function ownItems(messages: readonly ApiMessage[]): (block: ContentBlock) => Item[] {
  const asked = new Set<unknown>()
  const answered = new Set<unknown>()
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      const item = itemOf(block)
      if (item?.type === 'mcp_approval_request') asked.add(item.id)
      else if (item?.type === 'mcp_approval_response') answered.add(item.approval_request_id)
      else if (isOutput(item)) answered.add(item?.call_id)
    }
  }
  const isTaken = (item: Item): boolean => {
    if (item.type === 'mcp_approval_request') return answered.has(item.id)
    if (item.type === 'mcp_approval_response') return asked.has(item.approval_request_id)
    if (clientCalls.has(item.type)) return answered.has(item.call_id)
    return item.type !== 'custom_tool_call'
  }
  return (block) => {
    const item = itemOf(block)
    return item !== undefined && isTaken(item) ? [item] : []
  }
}

/** Tools of OpenAI that run at the client. */
const clientCalls = new Set<unknown>(['computer_call', 'local_shell_call', 'shell_call', 'apply_patch_call'])

const isOutput = (item: Item | undefined): boolean =>
  typeof item?.type === 'string' && item.type.endsWith('_call_output')

const itemOf = (block: ContentBlock): Item | undefined =>
  block.type === 'openai_item' ? asRecord(block.item) : undefined
