import { invalidOption } from '../base/invalid-option.ts'
import { readField } from '../base/read-field.ts'
import { isKeptData, keptData } from '../models/kept-data.ts'
import { type CompactOptions, type CompactSettings, readCompactOptions } from './compact-options.ts'
import { isReplyId, messageKind } from './message-kind.ts'
import { type ResultSize, sizeOf } from './result-size.ts'
import { transcriptTexts } from './transcript-texts.ts'
import { readList, withFields } from './unknown-values.ts'

interface Found {
  readonly message: number
  readonly index: number
  readonly toolUseID: string
  readonly block: unknown
}

/**
 * Replaces older tool results with a line that says so, or with the host's summary. Every result keeps its position, its
 * id and `is_error`, so calls and results stay paired. `toolUseResult`, which is not sent, stays too. The given messages
 * are not changed, and a compacted result is not compacted again.
 *
 * Some models sign their thinking together with everything before it, and their service rejects a conversation in which
 * that part has changed. If a conversation contains signed thinking, only results from before the last prompt are
 * replaced, the same ones until the next prompt, and the thinking between them and that prompt is removed.
 */
export async function compactToolResults<AnyMessage>(
  messages: readonly AnyMessage[],
  options: CompactOptions = {},
): Promise<AnyMessage[]> {
  const settings = readCompactOptions(options)
  const list = readList(messages) as AnyMessage[] | undefined
  if (list === undefined) {
    invalidOption('messages', 'an array', messages)
  }
  const overview = overviewOf(list)
  const { results, names, thoughts } = overview
  const end = thoughts.length > 0 ? overview.lastPrompt : list.length
  const old = results.filter(({ message }) => message < end)
  const lastReply = overview.replies.findLast((reply) => reply < end) ?? -1
  const replaced = new Map<number, Map<number, string>>()
  for (const found of old.slice(0, Math.max(0, old.length - settings.keepLast))) {
    const size = sizeOf(readField(found.block, 'content'), settings.minChars)
    // a result that the model has not seen yet is not old
    if (found.message > lastReply || !size.isLong) continue
    const content = await inShort(found, size, names.get(found.toolUseID) ?? '', settings)
    if (content === undefined) continue
    const inMessage = replaced.get(found.message) ?? new Map<number, string>()
    replaced.set(found.message, inMessage.set(found.index, content))
  }
  const first = Math.min(...replaced.keys())
  const isUnbound = ({ message, reply }: Thought): boolean =>
    message > first && message < end && overview.spoken.has(reply)
  const dropped = new Map<number, Set<number>>()
  for (const { message, index } of thoughts.filter(isUnbound)) {
    dropped.set(message, (dropped.get(message) ?? new Set()).add(index))
  }
  return list.flatMap((message, index) => withBlocks(message, replaced.get(index), dropped.get(index)))
}

interface Place {
  readonly message: number
  readonly index: number
}

interface Thought extends Place {
  readonly reply: number
}

interface Overview {
  readonly results: Found[]
  readonly names: Map<string, string>
  /** The index at which each reply begins. */
  readonly replies: number[]
  /** Thinking blocks whose signature covers the blocks before them. */
  readonly thoughts: Thought[]
  /** The start of each reply that has more than thinking and white space. */
  readonly spoken: Set<number>
  /** The index of the last user message that is not only results. */
  lastPrompt: number
}

function overviewOf(messages: readonly unknown[]): Overview {
  const overview: Overview = {
    results: [],
    names: new Map(),
    replies: [],
    thoughts: [],
    spoken: new Set(),
    lastPrompt: 0,
  }
  let reply: unknown
  for (const [message, given] of messages.entries()) {
    const kind = messageKind(given)
    if (kind.kind !== 'own' && kind.kind !== 'plain') continue
    const side = kind.kind === 'own' ? kind.side : kind.role
    const blocks = readList(kind.content)
    const isEmpty = blocks === undefined ? kind.content === '' : blocks.length === 0
    if (side === 'assistant' && !isEmpty) {
      const next = kind.kind === 'own' && isReplyId(kind.reply) ? kind.reply : undefined
      // results may arrive while their reply is still streaming
      if (next === undefined || next !== reply) overview.replies.push(message)
      reply = next
    }
    if (side === 'user' && !isEmpty && !blocks?.every(isResult)) overview.lastPrompt = message
    for (const [index, block] of (blocks ?? []).entries()) {
      const type = readField(block, 'type')
      const at = overview.replies.at(-1) ?? -1
      if (isSignedThought(block)) overview.thoughts.push({ message, index, reply: at })
      else if (side === 'assistant' && type !== 'thinking' && readField(block, 'text') !== undefined) {
        if (asString(readField(block, 'text')).trim() !== '') overview.spoken.add(at)
      } else if (side === 'assistant' && type !== 'thinking') overview.spoken.add(at)
      if (type === 'tool_use') overview.names.set(asString(readField(block, 'id')), nameOf(block))
      else if (type === 'tool_result') overview.results.push({ message, index, toolUseID: idOf(block), block })
    }
  }
  return overview
}

const isResult = (block: unknown): boolean => readField(block, 'type') === 'tool_result'

function isSignedThought(block: unknown): boolean {
  const type = readField(block, 'type')
  if (type !== 'thinking') return type === 'redacted_thinking'
  const signature = readField(block, 'signature')
  return isKeptData(signature) ? isSignedInside(block) : asString(signature) !== ''
}

/** The data that `aiSdkModel` keeps contains a signature if the provider is Anthropic, or a cloud that serves its models. */
const isSignedInside = (block: unknown): boolean =>
  Object.values(keptData('ai_sdk', block) ?? {}).some(
    (metadata) => asString(readField(metadata, 'signature') ?? readField(metadata, 'redactedData')) !== '',
  )

const asString = (value: unknown): string => (typeof value === 'string' ? value : '')
const nameOf = (call: unknown): string => asString(readField(call, 'name'))
const idOf = (result: unknown): string => asString(readField(result, 'tool_use_id'))

/** The summary, or a line in place of the result; undefined if neither would be shorter. */
async function inShort(
  { block, toolUseID }: Found,
  { text, others }: ResultSize,
  toolName: string,
  { summarize }: CompactSettings,
): Promise<string | undefined> {
  const room = others > 0 ? Infinity : text.length
  const isError = readField(block, 'is_error') === true
  const summary = await summaryOf(
    block,
    summarize && (() => summarize({ toolUseID, toolName, text, isError })),
    summarize,
  )
  const summedUp = typeof summary === 'string' && summary.trim() !== '' ? transcriptTexts.summedUp(summary) : undefined
  if (summedUp !== undefined && summedUp.length < room) return summedUp
  const leftOut = transcriptTexts.leftOut(text.length, others)
  return leftOut.length < room ? leftOut : undefined
}

/** One summary per result: a different summary in each request would change the conversation for the service. */
const summaries = new WeakMap<object, WeakMap<object, Promise<unknown>>>()

function summaryOf(block: unknown, get: (() => unknown) | undefined, summarize: object | undefined): Promise<unknown> {
  if (get === undefined || summarize === undefined) return Promise.resolve(undefined)
  if (typeof block !== 'object' || block === null) return attempt(get)
  const known = summaries.get(summarize) ?? new WeakMap<object, Promise<unknown>>()
  summaries.set(summarize, known)
  const summary = known.get(block) ?? attempt(get)
  known.set(block, summary)
  return summary
}

async function attempt<Value>(get: () => Value): Promise<Awaited<Value> | undefined> {
  try {
    return await get()
  } catch {
    return undefined
  }
}

function withBlocks<AnyMessage>(
  message: AnyMessage,
  contents: ReadonlyMap<number, string> | undefined,
  dropped: ReadonlySet<number> | undefined,
): AnyMessage[] {
  if (contents === undefined && dropped === undefined) return [message]
  const kind = messageKind(message)
  const blocks = 'content' in kind ? (readList(kind.content) ?? []) : []
  const content = blocks.flatMap((block, index) => {
    const brief = contents?.get(index)
    if (dropped?.has(index)) return []
    return [brief === undefined ? block : withFields(block, { type: 'tool_result', content: brief })]
  })
  if (content.length === 0) return []
  if (kind.kind === 'plain') return [withFields(message, { content }) as AnyMessage]
  return [withFields(message, { message: withFields(readField(message, 'message'), { content }) }) as AnyMessage]
}
