import { describeValue } from '../text/describe-value.ts'
import { wellFormed } from '../text/well-formed.ts'
import type { AttachmentMessage, ContentBlock, Message, TextBlock, ToolResultBlock, UserMessage } from './message.ts'
import type { ApiMessage } from './to-api-messages.ts'

const maxAttachmentChars = 100_000

/** The same as `toApiMessages`, with the ids as they came: the service that gave them may want them back. */
export function requestMessages(messages: readonly Message[]): ApiMessage[] {
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
  return wellFormed(api)
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
