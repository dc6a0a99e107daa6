import type { ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asBlocks, blocksOf, fileOf, type MediaFile, textOf } from '../model/api-content.ts'
import { isKeptData, keptData } from '../model/kept-data.ts'
import { asRecord, asText } from '../model/read-event.ts'

type PromptPart = Record<string, unknown>
type PromptMessage = { role: string; content: string | PromptPart[] }

/** Of the interface of a language model. */
export type SpecificationVersion = 'v2' | 'v3' | 'v4'

/** A transcript as a prompt of the AI SDK's language models. */
export function toPrompt(
  messages: readonly ApiMessage[],
  system: string | undefined,
  version: SpecificationVersion,
): PromptMessage[] {
  const toolNames = new Map<unknown, unknown>()
  const prompt: PromptMessage[] = system === undefined ? [] : [{ role: 'system', content: system }]
  for (const message of messages) {
    if (message.role === 'assistant')
      push(
        prompt,
        'assistant',
        blocksOf(message).flatMap((block) => said(block, toolNames)),
      )
    else pushHeard(prompt, message, toolNames, version)
  }
  return prompt
}

function push(prompt: PromptMessage[], role: string, content: PromptPart[]): void {
  if (content.length > 0) prompt.push({ role, content })
}

function said(block: ContentBlock, toolNames: Map<unknown, unknown>): PromptPart[] {
  const metadata = keptData('ai_sdk', block)
  const providerOptions = metadata && { providerOptions: metadata }
  switch (block.type) {
    case 'text':
      return asText(block.text) === undefined ? [] : [{ type: 'text', text: block.text, ...providerOptions }]
    case 'thinking':
      return reasoning(block, providerOptions)
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: block.data } } }]
    case 'tool_use':
      toolNames.set(block.id, block.name)
      return [
        { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input ?? {}, ...providerOptions },
      ]
    case 'ai_sdk_part':
      return asRecord(block.part) === undefined ? [] : [withoutGaps(block.part as PromptPart)]
    default:
      return []
  }
}

/** Thinking that no provider signed would be refused by some, and is missed by none. */
function reasoning(block: ContentBlock, providerOptions: PromptPart | undefined): PromptPart[] {
  const text = asText(block.thinking) ?? ''
  if (providerOptions !== undefined) return [{ type: 'reasoning', text, ...providerOptions }]
  const signature = isKeptData(block.signature) ? undefined : asText(block.signature)
  return signature === undefined ? [] : [{ type: 'reasoning', text, providerOptions: { anthropic: { signature } } }]
}

const withoutGaps = (part: PromptPart): PromptPart =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined))

function pushHeard(
  prompt: PromptMessage[],
  message: ApiMessage,
  toolNames: ReadonlyMap<unknown, unknown>,
  version: SpecificationVersion,
): void {
  const blocks = blocksOf(message)
  const results = blocks.filter(({ type }) => type === 'tool_result')
  push(
    prompt,
    'tool',
    results.map((block) => ({
      type: 'tool-result',
      toolCallId: block.tool_use_id,
      toolName: toolNames.get(block.tool_use_id) ?? 'unknown',
      output: output(block, version),
    })),
  )
  push(
    prompt,
    'user',
    blocks.filter(({ type }) => type !== 'tool_result').flatMap((block) => heard(block, version)),
  )
}

function heard(block: ContentBlock, version: SpecificationVersion): PromptPart[] {
  const file = fileOf(block)
  if (file !== undefined) return [filePart(file, version)]
  const text = textOf([block])
  return text === '' ? [] : [{ type: 'text', text }]
}

function filePart(file: MediaFile, version: SpecificationVersion): PromptPart {
  const head = { type: 'file', mediaType: file.mediaType, ...(file.name !== undefined && { filename: file.name }) }
  return { ...head, data: version === 'v4' ? taggedData(file) : (address(file) ?? file.data) }
}

const address = ({ url }: MediaFile): URL | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url) : undefined

function taggedData(file: MediaFile): PromptPart {
  const url = address(file)
  return url === undefined ? { type: 'data', data: file.data ?? '' } : { type: 'url', url }
}

function output(block: ContentBlock, version: SpecificationVersion): PromptPart {
  const blocks = asBlocks(block.content)
  const isError = block.is_error === true
  if (!blocks.some((each) => fileOf(each) !== undefined)) {
    return { type: isError ? 'error-text' : 'text', value: textOf(blocks) }
  }
  const marked = isError ? [{ type: 'text', text: 'This is an error.' }] : []
  return { type: 'content', value: [...marked, ...blocks.flatMap((each) => outputPart(each, version))] }
}

/** Each version has its own form for files in results. */
function outputPart(block: ContentBlock, version: SpecificationVersion): PromptPart[] {
  const file = fileOf(block)
  if (file === undefined || version === 'v4') return heard(block, version)
  const { mediaType, data, url, kind } = file
  if (data === undefined) {
    if (version === 'v2') return [{ type: 'text', text: `${url}` }]
    return [{ type: kind === 'image' ? 'image-url' : 'file-url', url }]
  }
  if (version === 'v2') return [{ type: 'media', data, mediaType }]
  return [{ type: kind === 'image' ? 'image-data' : 'file-data', data, mediaType }]
}
