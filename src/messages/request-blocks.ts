import { describeValue } from '../base/describe-value.ts'
import type { AttachmentMessage, ContentBlock, Message, TextBlock, ToolResultBlock, UserMessage } from './message.ts'

const maxAttachmentChars = 100_000

/** System messages that say which messages do not count. */
const discarding = new Set(['model_retry', 'model_refusal'])

export function discardedBy(message: Message): readonly string[] {
  if (message.type !== 'system' || !discarding.has(message.subtype) || !Array.isArray(message.discarded)) return []
  return message.discarded
}

const isResult = (block: ContentBlock): boolean => block.type === 'tool_result'

export const resultsFirst = (blocks: ContentBlock[]): ContentBlock[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
]

export function blocksOf({ message: { content } }: UserMessage): readonly (ContentBlock | ToolResultBlock)[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

export function asText({ attachment }: AttachmentMessage): TextBlock {
  const { type, ...rest } = attachment
  const content = typeof rest.content === 'string' ? rest.content : describeValue(rest, maxAttachmentChars)
  return { type: 'text', text: `<${type}>\n${content}\n</${type}>` }
}
