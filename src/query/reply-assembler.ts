import { describeError } from '../base/describe-error.ts'
import { readField } from '../base/read-field.ts'
import type { ContentBlock } from '../messages/message.ts'
import { isHandover } from '../messages/server-tools.ts'
import type { StopReason } from '../models/model.ts'

/** The information in one event of a stream. */
export type ReplyPart =
  | { readonly type: 'started'; readonly id: string; readonly model: string | undefined }
  /** The service begins another reply in the same stream, which needs another assembler. */
  | { readonly type: 'anotherReply' }
  /** The previous block can no longer change. */
  | { readonly type: 'nextBlock' }
  /** The model declined, and another one continues the reply. */
  | { readonly type: 'handedOver' }
  | FinishedBlock
  | { readonly type: 'stopped'; readonly stopReason: StopReason; readonly stopDetails: unknown }
  | { readonly type: 'failed'; readonly error: unknown }

export interface FinishedBlock {
  readonly type: 'block'
  readonly block: ContentBlock
  /** The blocks of a reply are in the order in which they began; they may end in another order. */
  readonly order: number
  readonly problem?: string
  /** A call without arguments, or cut off before the first. */
  readonly isBare?: boolean
}

const nothing: readonly ReplyPart[] = []
const nextBlock: readonly ReplyPart[] = [{ type: 'nextBlock' }]
const handedOver: readonly ReplyPart[] = [{ type: 'handedOver' }]
const anotherReply: readonly ReplyPart[] = [{ type: 'anotherReply' }]

interface OpenBlock {
  readonly block: ContentBlock
  readonly order: number
  /** The arguments, collected as text and parsed when they are complete. */
  json: string
}

/**
 * Assembles a reply from the events of its stream. Ignores everything else: pings, unknown events and deltas, and pieces
 * of blocks that never began.
 */
export class ReplyAssembler {
  readonly #open = new Map<number, OpenBlock>()
  readonly #closed = new Map<number, ContentBlock>()
  #id: string | undefined
  #begun = 0
  /** Some services do not announce their replies. */
  #hasBegun = false
  /** The reply was started a second time, so its blocks may be repeated. */
  #isRepeated = false
  /** The usage so far: services update it while they stream, and some send it after everything else. */
  usage: unknown
  /** The service has counted what it has written so far, not only begun. */
  hasFinalUsage = false
  /** The container in which the service ran code for this reply. */
  container: unknown

  /** The id of the current reply. */
  get id(): string | undefined {
    return this.#id
  }

  /** The service has answered. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  take(event: unknown): readonly ReplyPart[] {
    const type = readField(event, 'type')
    if (typeof type !== 'string' || !Object.hasOwn(readers, type)) return nothing
    try {
      return readers[type as keyof typeof readers](this, event as Record<string, unknown>)
    } catch (error) {
      return [{ type: 'failed', error: new Error(`An event of the stream cannot be read. ${describeError(error)}`) }]
    }
  }

  /** Text that had been streamed when the reply broke off: the user has seen it. */
  partialText(): FinishedBlock[] {
    return [...this.#open.values()].flatMap(({ block, order }) =>
      block.type === 'text' && typeof block.text === 'string' && block.text.trim() !== ''
        ? [{ type: 'block', block, order }]
        : [],
    )
  }

  start(message: unknown): readonly ReplyPart[] {
    const id = textOf(readField(message, 'id')) ?? ''
    // the same reply started twice is one reply
    this.#isRepeated = id === this.#id
    if (this.#isRepeated) return nothing
    if (this.#id !== undefined) return anotherReply
    this.#id = id
    this.#hasBegun = true
    this.usage = readField(message, 'usage')
    // a reply that comes as a whole
    this.hasFinalUsage = textOf(readField(message, 'stop_reason')) !== undefined
    this.container = readField(message, 'container') ?? undefined
    const started: ReplyPart = { type: 'started', id, model: textOf(readField(message, 'model')) }
    return [started, ...this.#whole(readField(message, 'content')), ...this.stop(message, undefined)]
  }

  /** Calls made by code of the service arrive complete, before any block. */
  #whole(content: unknown): ReplyPart[] {
    const blocks: unknown[] = Array.isArray(content) ? content : []
    return blocks.flatMap((block, index) => [...this.startBlock(index, block), ...this.endBlock(index)])
  }

  startBlock(index: unknown, given: unknown): readonly ReplyPart[] {
    const type = readField(given, 'type')
    if (typeof index !== 'number' || typeof type !== 'string') return nothing
    const block = { ...(given as ContentBlock) }
    const before = this.#closed.get(index)
    if (before !== undefined && this.#isRepeated && before.type === type && before.id === block.id) return nothing
    if (this.#open.has(index)) {
      const message = `Block ${index} was started again before it ended.`
      return [{ type: 'failed', error: streamError({ type: 'stream_error', message }) }]
    }
    this.#hasBegun = true
    this.#open.set(index, { block, order: this.#begun++, json: '' })
    return isHandover(block) ? handedOver : nextBlock
  }

  extend(index: unknown, delta: unknown): readonly ReplyPart[] {
    const open = this.#open.get(index as number)
    const type = readField(delta, 'type')
    if (open !== undefined && typeof type === 'string' && Object.hasOwn(deltas, type)) {
      deltas[type as keyof typeof deltas](open, delta as Record<string, unknown>)
    }
    return nothing
  }

  endBlock(index: unknown): readonly ReplyPart[] {
    const open = this.#open.get(index as number)
    if (open === undefined) return nothing
    this.#open.delete(index as number)
    this.#closed.set(index as number, open.block)
    return [finished(open)]
  }

  stop(delta: unknown, usage: unknown): readonly ReplyPart[] {
    if (typeof usage === 'object' && usage !== null) {
      // a field without a value says nothing: what was reported before stays
      const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined)
      this.usage = { ...(this.usage as object), ...Object.fromEntries(told) }
      // the count at the start of a reply is not final
      this.hasFinalUsage ||= told.some(([name]) => name === 'output_tokens')
    }
    this.container = readField(delta, 'container') ?? this.container
    const stopReason = textOf(readField(delta, 'stop_reason'))
    const stopDetails = readField(delta, 'stop_details') ?? undefined
    if (stopReason !== undefined || usage !== undefined) this.#hasBegun = true
    return stopReason === undefined ? nothing : [{ type: 'stopped', stopReason, stopDetails }]
  }
}

type Reader = (reply: ReplyAssembler, event: Record<string, unknown>) => readonly ReplyPart[]

const readers = {
  message_start: (reply, { message }) => reply.start(message),
  content_block_start: (reply, { index, content_block }) => reply.startBlock(index, content_block),
  content_block_delta: (reply, { index, delta }) => reply.extend(index, delta),
  content_block_stop: (reply, { index }) => reply.endBlock(index),
  message_delta: (reply, { delta, usage }) => reply.stop(delta, usage),
  error: (_, { error }) => [{ type: 'failed', error: streamError(error) }],
} satisfies Record<string, Reader>

const deltas = {
  text_delta: ({ block }, { text }) => append(block, 'text', text),
  thinking_delta: ({ block }, { thinking }) => append(block, 'thinking', thinking),
  signature_delta: ({ block }, { signature }) => {
    if (typeof signature === 'string') block.signature = signature
  },
  citations_delta: ({ block }, { citation }) => {
    block.citations = [...(Array.isArray(block.citations) ? block.citations : []), citation]
  },
  input_json_delta: (open, { partial_json }) => {
    if (typeof partial_json === 'string') open.json += partial_json
  },
} satisfies Record<string, (open: OpenBlock, delta: Record<string, unknown>) => void>

function append(block: ContentBlock, key: string, piece: unknown): void {
  if (typeof piece !== 'string') return
  const before = block[key]
  block[key] = typeof before === 'string' ? before + piece : piece
}

function finished({ block, order, json }: OpenBlock): FinishedBlock {
  if (!('input' in block) && json === '') return { type: 'block', block, order }
  const read = readArguments(json, block.input)
  const isBare = json.trim() === '' && isEmpty(block.input)
  return read.ok
    ? { type: 'block', block: { ...block, input: read.input }, order, isBare }
    : { type: 'block', block: { ...block, input: {} }, order, problem: read.problem }
}

const isEmpty = (input: unknown): boolean =>
  input === undefined || input === null || (typeof input === 'object' && Object.keys(input).length === 0)

/** An error like those that clients throw, so that both are classified alike. */
function streamError(error: unknown): Error {
  const type = textOf(readField(error, 'type')) ?? 'error'
  const message = textOf(readField(error, 'message')) ?? 'The service ended its reply with an error.'
  return Object.assign(new Error(message), { type, error: { type, message } })
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const shownChars = 200

type ReadArguments = { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly problem: string }

/**
 * Parses the streamed arguments of a call, strictly: a repaired text that was cut off could be a different call than the
 * model meant. An empty text means no arguments.
 */
function readArguments(json: string, given: unknown): ReadArguments {
  if (json.trim() === '') return { ok: true, input: given ?? {} }
  try {
    return { ok: true, input: JSON.parse(json) }
  } catch (error) {
    const end = json.length > shownChars ? `…${json.slice(-shownChars)}` : json
    const problem = `${describeError(error)}. The text ended with: ${end.toWellFormed()}`
    return {
      ok: false,
      problem: `${problem}\nIf it was too long for one reply, send a shorter input, such as in several calls.`,
    }
  }
}
