import { describeValue } from '../text/describe-value.ts'
import { wellFormed } from '../text/well-formed.ts'
import type { AttachmentMessage, ContentBlock, Message, TextBlock, ToolResultBlock, UserMessage } from './message.ts'

const maxAttachmentChars = 100_000

/** A message as the Messages API takes it. */
export type ApiMessage = { role: 'user' | 'assistant'; content: string | ContentBlock[] }

/**
 * A transcript as the Messages API takes it: between two replies one user message, its tool results first, then
 * everything else in order, attachments as text. Progress and system messages stay at home, and so does what a
 * `model_retry` message says is not to count. Text that is not well formed is mended: the API refuses it. Where a client
 * has types of its own for them, it gets those.
 */
export function toApiMessages<Param extends { role: string } = ApiMessage>(messages: readonly Message[]): Param[] {
  const discarded = discardedBy(messages)
  const api: ApiMessage[] = []
  let answer: ContentBlock[] = []
  let replyId: string | undefined
  const flush = () => {
    if (answer.length > 0) api.push({ role: 'user', content: resultsFirst(answer) })
    answer = []
  }
  for (const message of messages) {
    if (discarded.has(message.uuid)) continue
    if (message.type === 'assistant') {
      const { id, content } = message.message
      // results may have come while the reply was still streaming: it is one reply all the same
      if (id !== replyId || !id) flush()
      replyId = id
      pushAssistant(api, content)
    } else if (message.type === 'user') for (const block of blocksOf(message)) answer.push(block)
    else if (message.type === 'attachment') answer.push(asText(message))
  }
  flush()
  // clients narrow the blocks further than they can be known here
  return wellFormed(api) as unknown as Param[]
}

function discardedBy(messages: readonly Message[]): Set<string> {
  const uuids = new Set<string>()
  for (const message of messages) {
    if (message.type !== 'system' || message.subtype !== 'model_retry' || !Array.isArray(message.discarded)) continue
    for (const uuid of message.discarded) uuids.add(uuid)
  }
  return uuids
}

/** One reply of a model may arrive as several messages; the API wants the roles to alternate. */
function pushAssistant(api: ApiMessage[], content: ContentBlock[]): void {
  const last = api.at(-1)
  if (last?.role === 'assistant' && Array.isArray(last.content)) last.content = last.content.concat(content)
  else api.push({ role: 'assistant', content: [...content] })
}

const isResult = (block: ContentBlock): boolean => block.type === 'tool_result'

const resultsFirst = (blocks: ContentBlock[]): ContentBlock[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
]

function blocksOf({ message: { content } }: UserMessage): readonly (ContentBlock | ToolResultBlock)[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function asText({ attachment }: AttachmentMessage): TextBlock {
  const { type, ...rest } = attachment
  const content = typeof rest.content === 'string' ? rest.content : describeValue(rest, maxAttachmentChars)
  return { type: 'text', text: `<${type}>\n${content}\n</${type}>` }
}
