import type { ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asBlocks, blocksOf, dataUrl, fileOf, inputText, resultText, textOf } from '../model/api-content.ts'
import { keptData } from '../model/kept-data.ts'
import { asRecord, asText } from '../model/read-event.ts'
import { customInput } from './custom-tools.ts'

type Item = Record<string, unknown>

interface ItemOptions {
  /** Names of custom tools: their input is text, not JSON. */
  readonly customTools: ReadonlySet<string>
  /** Does the service keep nothing of a reply? Then it takes its own items back only with their encrypted content. */
  readonly isStateless: boolean
}

/** A transcript as input items of the Responses API. */
export function toResponsesInput(messages: readonly ApiMessage[], options: ItemOptions): Item[] {
  const customIds = new Set<unknown>()
  return messages.flatMap((message) =>
    message.role === 'assistant' ? saidItems(message, options, customIds) : heardItems(message, customIds),
  )
}

function saidItems(message: ApiMessage, { customTools, isStateless }: ItemOptions, customIds: Set<unknown>): Item[] {
  const items: Item[] = []
  for (const block of blocksOf(message)) {
    if (block.type === 'text') pushText(items, block)
    else if (block.type === 'thinking') items.push(...reasoningItem(block, isStateless))
    else if (block.type === 'openai_item') items.push(...ownItem(block, isStateless))
    else if (block.type === 'tool_use') {
      const isCustom = customTools.has(block.name as string)
      if (isCustom) customIds.add(block.id)
      items.push(callItem(block, isCustom))
    }
  }
  // reasoning is refused without what it led to
  while (items.at(-1)?.type === 'reasoning') items.pop()
  const hasReasoning = items.some(({ type }) => type === 'reasoning')
  return isStateless || !hasReasoning ? items.map(withoutId) : items
}

/** An id is looked up, and one whose reasoning is gone is refused; the item says everything without it. */
function withoutId(item: Item): Item {
  const { id, ...rest } = item
  if (item.type === 'function_call' || item.type === 'custom_tool_call') return rest
  if (item.type !== 'message') return item
  const { type, status, content, ...message } = rest
  return {
    ...message,
    content: asBlocks(content)
      .map(({ text }) => text)
      .join(''),
  }
}

function callItem(block: ContentBlock, isCustom: boolean): Item {
  const head = { ...keptData('openai', block), call_id: block.id, name: block.name }
  return isCustom
    ? { ...head, type: 'custom_tool_call', input: customInput(block.input) }
    : { ...head, type: 'function_call', arguments: inputText(block.input) }
}

function reasoningItem(block: ContentBlock, isStateless: boolean): Item[] {
  const kept = keptData('openai', block)
  if (kept === undefined || (isStateless && asText(kept.encrypted_content) === undefined)) return []
  return [{ summary: [], ...kept, type: 'reasoning' }]
}

/** Of what the service did by itself it takes back, when it keeps nothing, only what it sealed. */
function ownItem(block: ContentBlock, isStateless: boolean): Item[] {
  const item = asRecord(block.item)
  return item === undefined || (isStateless && asText(item.encrypted_content) === undefined) ? [] : [item]
}

/** Texts of one message go back as one message. */
function pushText(items: Item[], block: ContentBlock): void {
  const text = asText(block.text)
  if (text === undefined) return
  const kept = keptData('openai', block)
  const id = asText(kept?.id)
  if (id === undefined) return void items.push({ ...kept, role: 'assistant', content: text })
  const part = { type: 'output_text', text, annotations: [] }
  const last = items.at(-1)
  if (last?.id === id && Array.isArray(last.content)) last.content.push(part)
  else items.push({ ...kept, type: 'message', role: 'assistant', status: 'completed', content: [part] })
}

function heardItems(message: ApiMessage, customIds: ReadonlySet<unknown>): Item[] {
  const items: Item[] = []
  let said: Item[] = []
  const flush = () => {
    if (said.length > 0) items.push({ role: 'user', content: said })
    said = []
  }
  for (const block of blocksOf(message)) {
    if (block.type !== 'tool_result') {
      said.push(...inputPart(block))
      continue
    }
    flush()
    const type = customIds.has(block.tool_use_id) ? 'custom_tool_call_output' : 'function_call_output'
    items.push({ type, call_id: block.tool_use_id, output: output(block) })
  }
  flush()
  return items
}

/** A result with pictures or files goes as parts, any other as text. */
function output(block: ContentBlock): string | Item[] {
  const blocks = asBlocks(block.content)
  if (!blocks.some((each) => fileOf(each) !== undefined)) return resultText(block)
  const marked = block.is_error === true ? [{ type: 'input_text', text: 'This is an error.' }] : []
  return [...marked, ...blocks.flatMap(inputPart)]
}

function inputPart(block: ContentBlock): Item[] {
  const file = fileOf(block)
  if (file === undefined) {
    const text = textOf([block])
    return text === '' ? [] : [{ type: 'input_text', text }]
  }
  if (file.kind === 'image') return [{ type: 'input_image', image_url: dataUrl(file), detail: 'auto' }]
  if (file.url !== undefined) return [{ type: 'input_file', file_url: file.url }]
  return [{ type: 'input_file', filename: file.name ?? 'document.pdf', file_data: dataUrl(file) }]
}
