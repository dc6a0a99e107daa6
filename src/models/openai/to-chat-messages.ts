import type { ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { asBlocks, blocksOf, customInput, dataUrl, fileOf, inputText, resultText, textOf } from '../api-content.ts'
import { keptData } from '../kept-data.ts'
import { asText } from '../read-event.ts'
import { sentName } from '../service-ids.ts'
import { chatReasoning } from './chat-reasoning.ts'

type ChatMessage = Record<string, unknown>

export interface GivenTools {
  /** The names of custom tools, whose input is text instead of JSON. */
  readonly customTools: ReadonlySet<string>
  /** The names of all tools that the model is given. */
  readonly names: ReadonlySet<string>
}

/** Converts a transcript to messages of Chat Completions. */
export function toChatMessages(
  messages: readonly ApiMessage[],
  system: string | undefined,
  tools: GivenTools,
): ChatMessage[] {
  const chat: ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }]
  /** Whether calls were made since the last user message. */
  let hasCalls = false
  for (const message of messages) {
    const blocks = blocksOf(message)
    if (message.role === 'assistant') {
      hasCalls ||= blocks.some(({ type }) => type === 'tool_use')
      chat.push(...said(blocks, tools, hasCalls))
    } else {
      hasCalls &&= blocks.some(({ type }) => type === 'tool_result')
      chat.push(...heard(blocks))
    }
  }
  return chat
}

function said(blocks: readonly ContentBlock[], tools: GivenTools, isAmongCalls: boolean): ChatMessage[] {
  const content = blocks.flatMap((block) => (block.type === 'text' ? (asText(block.text) ?? []) : [])).join('')
  const calls = blocks.filter(({ type }) => type === 'tool_use').map((block) => toolCall(block, tools))
  if (content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: content === '' ? null : content,
      ...chatReasoning(blocks, isAmongCalls),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

function toolCall(block: ContentBlock, { customTools, names }: GivenTools): ChatMessage {
  const { id, input } = block
  const name = sentName(block.name, names)
  const extra = keptData('openai_chat', block)
  return customTools.has(name)
    ? { ...extra, id, type: 'custom', custom: { name, input: customInput(input) } }
    : { ...extra, id, type: 'function', function: { name, arguments: inputText(input) } }
}

/** Results first. A result can hold only text, so its files follow as a user message. */
function heard(blocks: readonly ContentBlock[]): ChatMessage[] {
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const files = results.flatMap((result) => asBlocks(result.content).filter((block) => fileOf(block) !== undefined))
  const rest = [...files, ...blocks.filter(({ type }) => type !== 'tool_result')]
  const content = userContent(rest)
  return [
    ...results.map((block) => ({ role: 'tool', tool_call_id: block.tool_use_id, content: toolText(block) })),
    ...(content.length > 0 ? [{ role: 'user', content }] : []),
  ]
}

function toolText(block: ContentBlock): string {
  const text = resultText(block)
  const hasFiles = asBlocks(block.content).some((each) => fileOf(each) !== undefined)
  return hasFiles ? [text, '(The files of this result follow.)'].filter((line) => line !== '').join('\n') : text
}

/** Plain text if there is nothing else, because some services do not accept parts. */
function userContent(blocks: readonly ContentBlock[]): string | ChatMessage[] {
  if (!blocks.some((block) => fileOf(block) !== undefined)) return textOf(blocks)
  return blocks.flatMap((block): ChatMessage[] => {
    const file = fileOf(block)
    if (file === undefined) return textOf([block]) === '' ? [] : [{ type: 'text', text: textOf([block]) }]
    if (file.kind === 'image') return [{ type: 'image_url', image_url: { url: dataUrl(file) } }]
    if (file.data === undefined) return [{ type: 'text', text: `${file.name ?? 'Document'}: ${file.url}` }]
    return [{ type: 'file', file: { filename: file.name ?? 'document.pdf', file_data: dataUrl(file) } }]
  })
}
