import type { ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { asBlocks, blocksOf, customInput, dataUrl, fileOf, inputText, resultText, textOf } from '../api-content.ts'
import { isCut } from '../cut-reply.ts'
import { keptData } from '../kept-data.ts'
import { asText } from '../read-event.ts'
import { sentName } from '../service-ids.ts'
import { ownItems } from './own-items.ts'
import type { GivenTools } from './to-chat-messages.ts'

type Item = Record<string, unknown>

interface ItemOptions extends GivenTools {
  /** The service stores nothing of a reply, and then accepts reasoning only with its encrypted content. */
  readonly isStateless: boolean
}

/** Converts a transcript to input items of the Responses API. */
export function toResponsesInput(messages: readonly ApiMessage[], options: ItemOptions): Item[] {
  /** The items of calls, by id: an output repeats fields of its call. */
  const calls = new Map<unknown, Item>()
  const own = ownItems(messages)
  return messages.flatMap((message) =>
    message.role === 'assistant' ? saidItems(message, options, calls, own) : heardItems(message, calls, own),
  )
}

type OwnItems = ReturnType<typeof ownItems>

function saidItems(message: ApiMessage, options: ItemOptions, calls: Map<unknown, Item>, own: OwnItems): Item[] {
  const { isStateless } = options
  const items: Item[] = []
  for (const block of blocksOf(message)) {
    if (block.type === 'text') pushText(items, block)
    else if (block.type === 'thinking') items.push(...reasoningItem(block, isStateless))
    else if (block.type === 'openai_item') items.push(...own(block))
    else if (block.type === 'tool_use') {
      const item = callItem(block, options)
      calls.set(block.id, item)
      items.push(item)
    }
  }
  // the service rejects reasoning without the item that it led to
  while (items.at(-1)?.type === 'reasoning') items.pop()
  const hasReasoning = items.some(({ type }) => type === 'reasoning')
  return isStateless || !hasReasoning ? items.map(withoutId) : items
}

/** The service looks up ids and rejects an id whose reasoning is missing; the item is complete without it. */
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

function callItem(block: ContentBlock, { customTools, names }: ItemOptions): Item {
  const name = sentName(block.name, names)
  const head = { ...keptFields(block), call_id: block.id, name }
  return customTools.has(name)
    ? { ...head, type: 'custom_tool_call', input: customInput(block.input) }
    : { ...head, type: 'function_call', arguments: inputText(block.input) }
}

/** The data that the service needs back with a block. It rejects the id of an item that it did not store. */
function keptFields(block: ContentBlock): Item | undefined {
  const kept = keptData('openai', block)
  if (kept === undefined || !isCut(block)) return kept
  const { id, ...rest } = kept
  return rest
}

function reasoningItem(block: ContentBlock, isStateless: boolean): Item[] {
  const kept = keptData('openai', block)
  if (kept === undefined || (isStateless && asText(kept.encrypted_content) === undefined)) return []
  if (!isStateless && isCut(block)) return []
  return [{ summary: [], ...kept, type: 'reasoning' }]
}

/** Texts of one message are sent back as one message. */
function pushText(items: Item[], block: ContentBlock): void {
  const text = asText(block.text)
  if (text === undefined) return
  const kept = keptFields(block)
  const id = asText(kept?.id)
  if (id === undefined) return void items.push({ ...kept, role: 'assistant', content: text })
  const part = { type: 'output_text', text, annotations: [] }
  const last = items.at(-1)
  if (last?.id === id && Array.isArray(last.content)) last.content.push(part)
  else items.push({ ...kept, type: 'message', role: 'assistant', status: 'completed', content: [part] })
}

function heardItems(message: ApiMessage, calls: ReadonlyMap<unknown, Item>, own: OwnItems): Item[] {
  const items: Item[] = []
  let said: Item[] = []
  const flush = () => {
    if (said.length > 0) items.push({ role: 'user', content: said })
    said = []
  }
  for (const block of blocksOf(message)) {
    if (block.type === 'tool_result') {
      flush()
      items.push(outputItem(block, calls.get(block.tool_use_id)))
    } else if (block.type === 'openai_item') {
      flush()
      items.push(...own(block))
    } else said.push(...inputPart(block))
  }
  flush()
  return items
}

/** If a program of the model made the call, the output goes to that program. */
function outputItem(block: ContentBlock, call: Item | undefined): Item {
  const type = call?.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output'
  const caller = call?.caller
  return { type, call_id: block.tool_use_id, output: output(block), ...(caller != null && { caller }) }
}

/** A result with images or files is sent as parts, any other as text. */
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
