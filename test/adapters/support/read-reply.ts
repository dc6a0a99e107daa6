import type { ContentBlock } from '../../../src/messages/message.ts'
import type { ModelEvent } from '../../../src/models/model.ts'

export const collect = async (events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> => {
  const all: ModelEvent[] = []
  for await (const event of events) if (all.push(event) > 100_000) throw new Error('the events do not end')
  return all
}

/** The final reply, as a reader of the events assembles it. */
export interface Reply {
  readonly id: string | undefined
  readonly blocks: ContentBlock[]
  readonly stopReason: unknown
  readonly usage: unknown
  readonly error: { type: string; message: string } | undefined
}

/** Assembles blocks like a loop does: arguments are parsed when their block ends, and only if they are JSON. */
export function readReply(events: readonly ModelEvent[]): Reply {
  const blocks = new Map<number, ContentBlock>()
  const inputs = new Map<number, string>()
  let reply: Omit<Reply, 'blocks'> = { id: undefined, stopReason: undefined, usage: undefined, error: undefined }
  for (const event of events) {
    if (event.type === 'message_start') {
      blocks.clear()
      inputs.clear()
      reply = { id: event.message.id, stopReason: undefined, usage: undefined, error: undefined }
    }
    if (event.type === 'content_block_start') blocks.set(event.index, { ...event.content_block })
    else if (event.type === 'content_block_delta') {
      const { delta } = event
      const block = blocks.get(event.index) as ContentBlock
      if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`
      else if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`
      else if (delta.type === 'signature_delta') block.signature = `${block.signature ?? ''}${delta.signature}`
      else if (delta.type === 'input_json_delta') {
        inputs.set(event.index, (inputs.get(event.index) ?? '') + delta.partial_json)
      }
    } else if (event.type === 'content_block_stop') {
      const json = inputs.get(event.index)
      const block = blocks.get(event.index) as ContentBlock
      if (json !== undefined) block.input = json === '' ? {} : parsed(json)
    } else if (event.type === 'message_delta') {
      const { stop_reason = reply.stopReason } = event.delta
      reply = { ...reply, stopReason: stop_reason, usage: event.usage ?? reply.usage }
    } else if (event.type === 'error') reply = { ...reply, error: event.error }
  }
  return { ...reply, blocks: [...blocks.values()] }
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return { broken: json }
  }
}

export const replyOf = async (events: AsyncIterable<ModelEvent>): Promise<Reply> => readReply(await collect(events))
