import type { ContentBlock } from '../../messages/message.ts'
import { serverCallId, serverResultId, serverToolFlaws } from '../../messages/server-tools.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { asBlocks } from '../api-content.ts'

/**
 * Removes calls that the provider ran itself and that have no result. Anthropic rejects a conversation with one,
 * unless the provider is about to continue it.
 */
export function withoutOpenParts(messages: readonly ApiMessage[]): ApiMessage[] {
  const turns = messages.map(({ role, content }) => ({ role, blocks: asBlocks(content).map(asServerTool) }))
  const flaws = serverToolFlaws(turns)
  if (flaws.size === 0) return [...messages]
  return messages.flatMap((message, turn) => {
    const places = flaws.get(turn)
    if (places === undefined || typeof message.content === 'string') return [message]
    const content = message.content.filter((_, index) => !places.has(index))
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}

/** A part in the form of the Messages API, as far as its calls and results are concerned. */
function asServerTool(block: ContentBlock): unknown {
  if (block.type !== 'ai_sdk_part') return block
  const id = serverCallId(block)
  if (id !== undefined) return { type: 'server_tool_use', id }
  const tool_use_id = serverResultId(block)
  return tool_use_id === undefined ? block : { type: 'provider_tool_result', tool_use_id }
}
