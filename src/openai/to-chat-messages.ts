import type { ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asBlocks, blocksOf, dataUrl, fileOf, inputText, resultText, textOf } from '../model/api-content.ts'
import { keptData } from '../model/kept-data.ts'
import { asText } from '../model/read-event.ts'
import { customInput } from './custom-tools.ts'

type ChatMessage = Record<string, unknown>

/** A transcript as messages of Chat Completions. */
export function toChatMessages(
  messages: readonly ApiMessage[],
  system: string | undefined,
  customTools: ReadonlySet<string>,
): ChatMessage[] {
  const before = system === undefined ? [] : [{ role: 'system', content: system }]
  return [...before, ...messages.flatMap((each) => (each.role === 'assistant' ? said(each, customTools) : heard(each)))]
}

function said(message: ApiMessage, customTools: ReadonlySet<string>): ChatMessage[] {
  const blocks = blocksOf(message)
  const content = blocks.flatMap((block) => (block.type === 'text' ? (asText(block.text) ?? []) : [])).join('')
  const calls = blocks.filter(({ type }) => type === 'tool_use').map((block) => toolCall(block, customTools))
  if (content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: content === '' ? null : content,
      // services that show their reasoning want it back within a round of calls, and only there
      ...(calls.length > 0 && { ...reasoningOf(blocks), tool_calls: calls }),
    },
  ]
}

/** Under the name under which it came. */
function reasoningOf(blocks: readonly ContentBlock[]): Record<string, string> {
  const reasoning: Record<string, string> = {}
  for (const block of blocks) {
    const field = block.type === 'thinking' ? asText(keptData('openai_chat', block)?.field) : undefined
    if (field !== undefined) reasoning[field] = (reasoning[field] ?? '') + (asText(block.thinking) ?? '')
  }
  return reasoning
}

function toolCall({ id, name, input }: ContentBlock, customTools: ReadonlySet<string>): ChatMessage {
  return customTools.has(name as string)
    ? { id, type: 'custom', custom: { name, input: customInput(input) } }
    : { id, type: 'function', function: { name, arguments: inputText(input) } }
}

/** Results first. They hold text only, so that their files follow as if the user had sent them. */
function heard(message: ApiMessage): ChatMessage[] {
  const blocks = blocksOf(message)
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

/** Plain text where there is nothing else: not every service takes parts. */
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
