import { keepData } from '../kept-data.ts'
import { asList, asRecord, asText, isSameJson, lostPieces } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { callBlocks, newCall, type StreamedCall } from './call-blocks.ts'

/** One item of a response's output, as far as it has arrived. */
export interface OutputItem {
  fields: Record<string, unknown>
  isDone: boolean
  readonly call: StreamedCall | undefined
  /** The open block of a message or of reasoning, and the item's part that it belongs to. */
  block?: number | undefined
  part?: unknown
  /** The parts that have received text. */
  readonly parts: Set<unknown>
}

export function outputItem(fields: Record<string, unknown>, isRunByService: boolean): OutputItem {
  const isCustom = fields.type === 'custom_tool_call'
  const isCall = (isCustom || fields.type === 'function_call') && !isRunByService
  const call = isCall ? newCall(asText(fields.call_id) ?? '', asText(fields.name) ?? '', isCustom) : undefined
  return { fields, isDone: false, call, parts: new Set() }
}

/** Writes items as blocks, piece by piece; when an item is done, also the parts that did not come in pieces. */
export function itemBlocks(writer: ReplyWriter, toolNames: ReadonlySet<string> | undefined) {
  const calls = callBlocks(writer, toolNames, 'openai')

  /** Closes a block and stores the data that the service needs back. */
  const close = (item: OutputItem) => {
    if (item.block === undefined) return
    const signature = keptOf(item.fields)
    if (signature !== undefined) writer.delta(item.block, { type: 'signature_delta', signature })
    writer.close(item.block)
    item.block = undefined
  }

  const say = (item: OutputItem, part: unknown, text: string) => {
    if (item.block !== undefined && item.part !== part) close(item)
    item.block ??= writer.open({ type: 'text', text: '' })
    item.part = part
    item.parts.add(part)
    writer.delta(item.block, { type: 'text_delta', text })
  }

  const think = (item: OutputItem, part: unknown, text: string) => {
    const gap = item.block !== undefined && item.part !== part ? '\n\n' : ''
    item.block ??= writer.open({ type: 'thinking', thinking: '', signature: '' })
    item.part = part
    writer.delta(item.block, { type: 'thinking_delta', thinking: gap + text })
  }

  const finishCall = ({ fields }: OutputItem, call: StreamedCall) => {
    const { type, call_id, name, arguments: args, input, status, ...kept } = fields
    const whole = asText(call.isCustom ? input : args) ?? ''
    if (call.text === '') calls.append(call, whole)
    // the streamed pieces differ from the final item of the service: it must not run
    else if (whole !== '' && !isSameJson(call.text, whole)) calls.append(call, lostPieces)
    calls.finish(call, kept)
  }

  const finishMessage = (item: OutputItem) => {
    asList(item.fields.content).forEach((part, at) => {
      const { text, refusal } = asRecord(part) ?? {}
      const words = asText(text) ?? asText(refusal)
      if (words !== undefined && !item.parts.has(at)) say(item, at, words)
    })
    close(item)
  }

  return {
    say,
    think,
    begin: (call: StreamedCall) => calls.begin(call),
    input: (call: StreamedCall, text: string) => calls.append(call, text),

    finish(item: OutputItem) {
      item.isDone = true
      // cut off before its first argument, whatever becomes of the response
      if (item.call?.text === '' && item.fields.status === 'incomplete' && !hasInput(item.fields)) return
      if (item.call !== undefined) return finishCall(item, item.call)
      if (item.fields.type === 'message') return finishMessage(item)
      if (item.fields.type === 'reasoning') {
        item.block ??= writer.open({ type: 'thinking', thinking: thoughtsOf(item.fields), signature: '' })
        return close(item)
      }
      // an item that the service ran itself: stored whole, because the service needs it back, and never run as a call
      if (typeof item.fields.type === 'string') writer.put({ type: 'openai_item', item: item.fields })
    },

    /** The response ended before this item: what arrived is kept. */
    cut(item: OutputItem, isCut: boolean) {
      item.isDone = true
      // cut off before its first argument: the input is unknown, so the block stays open
      if (isCut && item.call?.text === '') return
      if (item.call !== undefined) finishCall(item, item.call)
      else if (item.block !== undefined) writer.close(item.block)
    },
  }
}

const hasInput = ({ arguments: args, input }: Record<string, unknown>): boolean =>
  asText(args) !== undefined || asText(input) !== undefined

/** All of a reasoning item, which the service accepts only unchanged; of a message, the fields besides its text. */
function keptOf(fields: Record<string, unknown>): string | undefined {
  const { type, role, content, status, ...rest } = fields
  if (type === 'reasoning') return keepData('openai', { ...rest, ...(asList(content).length > 0 && { content }) })
  return Object.keys(rest).length > 0 ? keepData('openai', rest) : undefined
}

/** The readable part of reasoning: its summary, or its text if the service shows it. */
const thoughtsOf = ({ summary, content }: Record<string, unknown>): string =>
  [...asList(summary), ...asList(content)].flatMap((part) => asText(asRecord(part)?.text) ?? []).join('\n\n')
