import { readField } from '../../base/read-field.ts'
import type { ContentBlock } from '../../messages/message.ts'
import { asBlocks } from '../api-content.ts'
import { eventStream, type ItemSource, type Translator } from '../event-stream.ts'
import type { BlockDelta, ModelEvent } from '../model.ts'
import { asIndex, asRecord, asText } from '../read-event.ts'
import type { MessageEnd, ReplyWriter } from '../reply-writer.ts'
import { unsignedMark } from './anthropic-request.ts'

/**
 * Raw stream events of the Messages API, in a valid order. Unknown and malformed events are ignored, and so is a repeated
 * start of the same message; the start of another message restarts the reply.
 */
export const anthropicEvents = (source: ItemSource): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: anthropicTranslator })

/** A block during the stream: the writer's index, or the block itself if its deltas have their own format. */
interface Standing {
  readonly given: ContentBlock
  readonly index?: number
  readonly whole?: ContentBlock
  isOpen: boolean
  isSigned?: boolean
}

/** The field that must be a string for a delta to be valid. */
const deltaFields: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

const isSameBlock = (one: ContentBlock, other: ContentBlock): boolean => one.type === other.type && one.id === other.id

export function anthropicTranslator(writer: ReplyWriter): Translator {
  const standing = new Map<number, Standing>()
  let messageId: unknown
  /** The message was started a second time, so its blocks may be repeated. */
  let isRepeated = false

  const handlers: Readonly<Record<string, (event: Record<string, unknown>) => void>> = {
    message_start({ message }) {
      const head = asRecord(message)
      if (head === undefined) return
      isRepeated = writer.isStarted && head.id === messageId
      if (isRepeated) return
      messageId = head.id
      standing.clear()
      const whole = asBlocks(head.content)
      const empty = whole.length > 0 ? { ...head, content: [] } : head
      if (writer.isStarted) writer.restart(empty)
      else writer.start(empty)
      // calls made by code of the service arrive complete, before any block
      for (const [at, block] of whole.entries()) {
        writer.put(block)
        standing.set(at, { given: block, isOpen: false })
      }
      if (asText(head.stop_reason) !== undefined) writer.stop({ stop_reason: head.stop_reason as string })
    },
    content_block_start(event) {
      const at = asIndex(event.index)
      const block = asRecord(event.content_block)
      if (at === undefined || typeof block?.type !== 'string') return
      const before = standing.get(at)
      if (before?.isOpen) return writer.fail('stream_error', `Block ${at} was started again before it ended.`)
      const given = block as ContentBlock
      // a proxy may repeat a block; any other block with this index is a new one
      if (before !== undefined && isRepeated && isSameBlock(before.given, given)) return
      standing.set(at, block.type === 'compaction' ? { given, whole: { ...given }, isOpen: true } : open(given))
    },
    content_block_delta(event) {
      const block = standingOpen(event.index)
      const delta = asRecord(event.delta)
      if (block === undefined || typeof delta?.type !== 'string') return
      const { type, ...fields } = delta
      if (block.whole !== undefined) return void Object.assign(block.whole, fields)
      const field = deltaFields[type as string]
      if (field !== undefined && typeof delta[field] !== 'string') return
      if (type === 'signature_delta' && delta.signature !== '') block.isSigned = true
      if (block.index !== undefined) writer.delta(block.index, delta as BlockDelta)
    },
    content_block_stop(event) {
      const block = standingOpen(event.index)
      if (block !== undefined) close(block)
    },
    message_delta({ delta, usage }) {
      const end = asRecord(delta)
      if (end === undefined) return
      // a reader that waits for the end of a block would miss the call in it
      if (typeof end.stop_reason === 'string') for (const block of standing.values()) if (block.isOpen) close(block)
      writer.stop(end as MessageEnd, usage)
    },
    message_stop: () => writer.end(),
    error({ error }) {
      const message = asText(readField(error, 'message')) ?? 'The service sent an error without a message.'
      writer.fail(asText(readField(error, 'type')) ?? 'api_error', message)
    },
    ping: () => writer.ping(),
  }

  const open = (given: ContentBlock): Standing => ({ given, index: writer.open(given), isOpen: true })

  const close = (block: Standing): void => {
    block.isOpen = false
    const { given, index, isSigned } = block
    const mark = given.type === 'thinking' && !isSigned && !given.signature && unsignedMark(given.signature)
    if (mark && index !== undefined) writer.delta(index, { type: 'signature_delta', signature: mark })
    if (block.whole !== undefined) writer.put(block.whole)
    else if (block.index !== undefined) writer.close(block.index)
  }

  const standingOpen = (index: unknown): Standing | undefined => {
    const block = standing.get(index as number)
    return block?.isOpen ? block : undefined
  }

  return {
    take(item) {
      const event = asRecord(item)
      const type = event?.type
      if (event !== undefined && typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(event)
    },
  }
}
