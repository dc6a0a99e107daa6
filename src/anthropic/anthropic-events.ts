import { readField } from '../errors/read-field.ts'
import type { ContentBlock } from '../messages/message.ts'
import { eventStream, type ItemSource, type Translator } from '../model/event-stream.ts'
import type { BlockDelta, ModelEvent } from '../model/model.ts'
import { asIndex, asRecord, asText } from '../model/read-event.ts'
import type { MessageEnd, ReplyWriter } from '../model/reply-writer.ts'

/**
 * Raw stream events of the Messages API, from wherever they come, held to their order. Unknown kinds and broken events
 * are passed over, a second start of the same message too; the start of another message begins the reply anew.
 */
export const anthropicEvents = (source: ItemSource): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: anthropicTranslator })

/** A block as it stands: the writer's index, or the block itself where its pieces are of a kind of their own. */
interface Standing {
  readonly index?: number
  readonly whole?: ContentBlock
  isOpen: boolean
}

/** What the field of a delta must be for the delta to be of use. */
const deltaFields: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

export function anthropicTranslator(writer: ReplyWriter): Translator {
  const standing = new Map<number, Standing>()
  let messageId: unknown

  const handlers: Readonly<Record<string, (event: Record<string, unknown>) => void>> = {
    message_start({ message }) {
      const head = asRecord(message)
      if (head === undefined) return
      if (writer.isStarted && head.id === messageId) return
      messageId = head.id
      standing.clear()
      if (writer.isStarted) writer.restart(head)
      else writer.start(head)
    },
    content_block_start(event) {
      const at = asIndex(event.index)
      const block = asRecord(event.content_block)
      if (at === undefined || typeof block?.type !== 'string') return
      const before = standing.get(at)
      if (before?.isOpen) return writer.fail('stream_error', `Block ${at} began again before it had ended.`)
      // the same block once more, as a proxy sends it that repeats itself
      if (before !== undefined) return
      const given = block as ContentBlock
      standing.set(at, block.type === 'compaction' ? { whole: { ...given }, isOpen: true } : open(given))
    },
    content_block_delta(event) {
      const block = standingOpen(event.index)
      const delta = asRecord(event.delta)
      if (block === undefined || typeof delta?.type !== 'string') return
      const { type, ...fields } = delta
      if (block.whole !== undefined) return void Object.assign(block.whole, fields)
      const field = deltaFields[type as string]
      if (field !== undefined && typeof delta[field] !== 'string') return
      if (block.index !== undefined) writer.delta(block.index, delta as BlockDelta)
    },
    content_block_stop(event) {
      const block = standingOpen(event.index)
      if (block !== undefined) close(block)
    },
    message_delta({ delta, usage }) {
      const end = asRecord(delta)
      if (end === undefined) return
      // a reader that waits for the end of a block would pass over the call in it
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

  const open = (block: ContentBlock): Standing => ({ index: writer.open(block), isOpen: true })

  const close = (block: Standing): void => {
    block.isOpen = false
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
