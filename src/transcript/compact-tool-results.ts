import { readField } from '../errors/read-field.ts'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import { type CompactOptions, type CompactSettings, readCompactOptions } from './compact-options.ts'
import { isReplyId, messageKind } from './message-kind.ts'
import { readList } from './read-list.ts'
import { type ResultSize, sizeOf } from './result-size.ts'
import { transcriptTexts } from './transcript-texts.ts'
import { withFields } from './with-fields.ts'

interface Found {
  readonly message: number
  readonly index: number
  readonly toolUseID: string
  readonly block: unknown
}

/**
 * The transcript with its older tool results replaced by a line that says so, or by the host's summary. Every result
 * keeps its place, its id and `is_error`, so that calls and results stay paired; `toolUseResult`, which is not sent,
 * stays too. Nothing that was given is changed, and what was compacted once is left alone.
 */
export async function compactToolResults<AnyMessage>(
  messages: readonly AnyMessage[],
  options: CompactOptions = {},
): Promise<AnyMessage[]> {
  const settings = readCompactOptions(options)
  const list = readList(messages) as AnyMessage[] | undefined
  if (list === undefined) {
    throw new SignalboxError('invalid_option', `messages must be an array, but got ${describeValue(messages, 80)}.`)
  }
  const { results, names, lastReply } = look(list)
  const replaced = new Map<number, Map<number, string>>()
  for (const found of results.slice(0, Math.max(0, results.length - settings.keepLast))) {
    const size = sizeOf(readField(found.block, 'content'), settings.minChars)
    // what the model has not seen yet is not old
    if (found.message > lastReply || !size.isLong) continue
    const content = await inShort(found, size, names.get(found.toolUseID) ?? '', settings)
    if (content === undefined) continue
    const inMessage = replaced.get(found.message) ?? new Map<number, string>()
    replaced.set(found.message, inMessage.set(found.index, content))
  }
  return list.map((message, index) => withResults(message, replaced.get(index)))
}

interface Sight {
  readonly results: Found[]
  readonly names: Map<string, string>
  /** Where the last reply begins. */
  lastReply: number
}

function look(messages: readonly unknown[]): Sight {
  const sight: Sight = { results: [], names: new Map(), lastReply: -1 }
  let reply: unknown
  for (const [message, given] of messages.entries()) {
    const kind = messageKind(given)
    if (kind.kind !== 'own' && kind.kind !== 'plain') continue
    const side = kind.kind === 'own' ? kind.side : kind.role
    const blocks = readList(kind.content)
    const isEmpty = blocks === undefined ? kind.content === '' : blocks.length === 0
    if (side === 'assistant' && !isEmpty) {
      const next = kind.kind === 'own' && isReplyId(kind.reply) ? kind.reply : undefined
      // results may come while their reply is still under way
      if (next === undefined || next !== reply) sight.lastReply = message
      reply = next
    }
    for (const [index, block] of (blocks ?? []).entries()) {
      const type = readField(block, 'type')
      if (type === 'tool_use') sight.names.set(asString(readField(block, 'id')), nameOf(block))
      else if (type === 'tool_result') sight.results.push({ message, index, toolUseID: idOf(block), block })
    }
  }
  return sight
}

const asString = (value: unknown): string => (typeof value === 'string' ? value : '')
const nameOf = (call: unknown): string => asString(readField(call, 'name'))
const idOf = (result: unknown): string => asString(readField(result, 'tool_use_id'))

/** The summary, or a line in place of the result; undefined where neither would be shorter. */
async function inShort(
  { block, toolUseID }: Found,
  { text, others }: ResultSize,
  toolName: string,
  { summarize }: CompactSettings,
): Promise<string | undefined> {
  const room = others > 0 ? Infinity : text.length
  const isError = readField(block, 'is_error') === true
  const summary = await attempt(() => summarize?.({ toolUseID, toolName, text, isError }))
  const summedUp = typeof summary === 'string' && summary.trim() !== '' ? transcriptTexts.summedUp(summary) : undefined
  if (summedUp !== undefined && summedUp.length < room) return summedUp
  const leftOut = transcriptTexts.leftOut(text.length, others)
  return leftOut.length < room ? leftOut : undefined
}

async function attempt<Value>(get: () => Value): Promise<Awaited<Value> | undefined> {
  try {
    return await get()
  } catch {
    return undefined
  }
}

function withResults<AnyMessage>(message: AnyMessage, contents: ReadonlyMap<number, string> | undefined): AnyMessage {
  if (contents === undefined) return message
  const kind = messageKind(message)
  const blocks = 'content' in kind ? (readList(kind.content) ?? []) : []
  const content = blocks.map((block, index) => {
    const brief = contents.get(index)
    return brief === undefined ? block : withFields(block, { type: 'tool_result', content: brief })
  })
  if (kind.kind === 'plain') return withFields(message, { content }) as AnyMessage
  return withFields(message, { message: withFields(readField(message, 'message'), { content }) }) as AnyMessage
}
