import { asIndex, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import type { TranslationOptions } from './from-chat-chunks.ts'
import { itemBlocks, type OutputItem, outputItem } from './item-blocks.ts'

type Fields = Record<string, unknown>

/** The items of a response. Events with the same `output_index` belong together; item ids may differ between events. */
export function responseItems(writer: ReplyWriter, { tools, hasServiceTools = false }: TranslationOptions) {
  const toolNames = tools && new Set(tools.map(({ name }) => name))
  const blocks = itemBlocks(writer, toolNames)
  const all: OutputItem[] = []
  const byIndex = new Map<number, OutputItem>()
  const byId = new Map<string, OutputItem>()
  let isRefused = false

  /** xAI reports its own searches as calls of custom tools that the request did not contain. */
  const isRunByService = ({ type, name }: Fields): boolean =>
    hasServiceTools && type === 'custom_tool_call' && toolNames?.has(name as string) !== true

  const find = (event: Fields): OutputItem | undefined => {
    const index = asIndex(event.output_index)
    if (index !== undefined) return byIndex.get(index)
    const id = asText(event.item_id) ?? asText(asRecord(event.item)?.id)
    return (id === undefined ? undefined : byId.get(id)) ?? all.at(-1)
  }
  const register = (event: Fields, fields: Fields): OutputItem => {
    const item = outputItem(fields, isRunByService(fields))
    const index = asIndex(event.output_index)
    const id = asText(fields.id)
    if (index !== undefined) byIndex.set(index, item)
    if (id !== undefined) byId.set(id, item)
    all.push(item)
    return item
  }
  /** The same item a second time. Under the index of a finished item, any other item is a new one. */
  const isRepeated = (event: Fields, fields: Fields): boolean => {
    const index = asIndex(event.output_index)
    const known = index === undefined ? undefined : byIndex.get(index)
    if (known?.isDone !== true) return known !== undefined
    const { type, call_id, id } = known.fields
    if (type !== fields.type) return false
    // ids of items may differ from event to event, those of calls do not
    return call_id !== undefined ? call_id === fields.call_id : id === fields.id || isSame(known.fields, fields)
  }
  /** The unfinished item that an event belongs to. */
  const underWay = (event: Fields): OutputItem | undefined => {
    const item = find(event)
    return item?.isDone === false ? item : undefined
  }

  const text = (event: Fields, words: string | undefined) => {
    const item = underWay(event)
    if (item !== undefined && item.call === undefined && words !== undefined) {
      blocks.say(item, event.content_index, words)
    }
  }
  /** For a part that did not arrive in pieces. */
  const textDone = (event: Fields, words: string | undefined) => {
    if (underWay(event)?.parts.has(event.content_index) === false) text(event, words)
  }

  return {
    get calls() {
      return all.filter(({ call }) => call !== undefined).length
    },
    /** The service waits for an approval. */
    get isApprovalWanted() {
      return all.some(({ fields }) => fields.type === 'mcp_approval_request')
    },
    get isRefused() {
      return isRefused
    },
    get isAnySeen() {
      return all.length > 0
    },
    added(event: Fields) {
      const fields = asRecord(event.item)
      if (fields === undefined || isRepeated(event, fields)) return
      const { call } = register(event, fields)
      if (call !== undefined) blocks.begin(call)
    },
    done(event: Fields) {
      const fields = asRecord(event.item)
      if (fields === undefined) return
      const known = find(event)
      if (known?.isDone && isRepeated(event, fields)) return
      const item = known?.isDone === false && known.fields.type === fields.type ? known : register(event, fields)
      item.fields = fields
      blocks.finish(item)
    },
    input(event: Fields, piece: string | undefined) {
      const call = underWay(event)?.call
      if (call !== undefined && piece !== undefined) blocks.input(call, piece)
    },
    inputDone(event: Fields, whole: string | undefined) {
      const call = underWay(event)?.call
      if (call?.text === '' && whole !== undefined) blocks.input(call, whole)
    },
    text,
    textDone,
    refusal(event: Fields, words: string | undefined) {
      isRefused = true
      text(event, words)
    },
    refusalDone(event: Fields, words: string | undefined) {
      isRefused = true
      textDone(event, words)
    },
    thinking(event: Fields, words: string | undefined) {
      const item = underWay(event)
      if (item?.fields.type === 'reasoning' && words !== undefined) {
        blocks.think(item, event.summary_index ?? event.content_index, words)
      }
    },
    /** The response has ended, and with it all unfinished items. */
    finish(isCut: boolean) {
      for (const item of all) if (!item.isDone) blocks.cut(item, isCut)
    },
  }
}

const isSame = ({ id: _id, ...one }: Fields, { id: _otherId, ...other }: Fields): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
