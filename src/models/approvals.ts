import type { ContentBlock } from '../messages/message.ts'
import { asRecord, asText } from './read-event.ts'

/** A call that a service runs itself, at an MCP server, if it is approved. */
export interface ApprovalRequest {
  readonly id: string
  /** The tool, and the label of its server if the service reports it. */
  readonly name?: string
  readonly server?: string
  /** JSON, as the model wrote it. */
  readonly arguments?: string
}

/** The stop reason of a reply that ends with a request for approval and has no call to run. */
export const approvalStop = 'approval_required'

/** The request for approval in a block; undefined for any other block. */
export function approvalRequest(block: ContentBlock): ApprovalRequest | undefined {
  const found = requestIn(block)
  const id = asText(found?.id)
  if (found === undefined || id === undefined) return undefined
  const { name, server_label, arguments: args } = found
  return {
    id,
    ...(asText(name) && { name: asText(name) as string }),
    ...(asText(server_label) && { server: asText(server_label) as string }),
    ...(asText(args) && { arguments: asText(args) as string }),
  }
}

/**
 * The answer to a request for approval, as a block for the next user message.
 *
 * @example
 * const answer = approvalAnswer(block, { approve: true })
 * query({ messages: [...run.transcript, { role: 'user', content: [answer] }], … })
 */
export function approvalAnswer(
  request: ContentBlock,
  { approve, reason }: { approve: boolean; reason?: string },
): ContentBlock {
  const id = approvalRequest(request)?.id
  const why = reason !== undefined && { reason }
  return request.type === 'ai_sdk_part'
    ? { type: 'ai_sdk_part', part: { type: 'tool-approval-response', approvalId: id, approved: approve, ...why } }
    : { type: 'openai_item', item: { type: 'mcp_approval_response', approval_request_id: id, approve, ...why } }
}

/** The request of either adapter, in the fields of the Responses API. */
function requestIn(block: ContentBlock): Record<string, unknown> | undefined {
  const item = block.type === 'openai_item' ? asRecord(block.item) : undefined
  if (item?.type === 'mcp_approval_request') return item
  const part = block.type === 'ai_sdk_part' ? asRecord(block.part) : undefined
  if (part?.type !== 'tool-approval-request') return undefined
  return { id: part.approvalId, name: part.toolName, arguments: part.input }
}
