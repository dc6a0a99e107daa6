import { describe, expect, it } from 'vitest'
import { fromStreamParts } from '../../src/models/ai-sdk/index.ts'
import { anthropicEvents } from '../../src/models/anthropic/index.ts'
import type { ModelEvent } from '../../src/models/model.ts'
import { fromChatChunks, fromResponsesEvents } from '../../src/models/openai/index.ts'
import { asChatChunks, asMessagesEvents, asResponsesEvents, asStreamParts, oneReply } from './support/one-reply.ts'
import { collect, readReply } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const formats: [string, () => AsyncIterable<ModelEvent>][] = [
  ['the Messages API', () => anthropicEvents(asMessagesEvents)],
  ['the Responses API', () => fromResponsesEvents(asResponsesEvents)],
  ['Chat Completions', () => fromChatChunks(asChatChunks)],
  ['the AI SDK', () => fromStreamParts(asStreamParts)],
]

describe('streams that mean the same', () => {
  it.each(formats)('L1 give the same text, calls, reason and usage: %s', async (_, stream) => {
    const events = await collect(stream())
    expect(flawsOf(events)).toEqual([])
    const { blocks, stopReason, usage } = readReply(events)
    const plain = blocks
      .filter(({ type }) => type === 'text' || type === 'tool_use')
      .map(({ signature, ...block }) => block)
    expect(plain).toEqual(oneReply.blocks)
    expect(stopReason).toBe(oneReply.stopReason)
    expect(usage).toMatchObject({ input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 })
  })

  it.each(formats)('L1 stream a call in pieces, and end it before the stop reason: %s', async (_, stream) => {
    const events = await collect(stream())
    const starts = events.filter(
      (event) => event.type === 'content_block_start' && event.content_block.type === 'tool_use',
    ) as Extract<ModelEvent, { type: 'content_block_start' }>[]
    expect(starts.map(({ content_block }) => [content_block.id, content_block.name])).toEqual([
      ['call_1', 'Read'],
      ['call_2', 'List'],
    ])
    const [first, second] = starts.map(({ index }) =>
      events.findIndex((event) => event.type === 'content_block_stop' && event.index === index),
    )
    const secondStart = events.indexOf(starts[1] as ModelEvent)
    const reason = events.findIndex(({ type }) => type === 'message_delta')
    // the first call can run while the second is still being written
    expect(first).toBeLessThan(secondStart)
    expect(second).toBeLessThan(reason)
    const pieces = events.filter((event) => event.type === 'content_block_delta' && event.index === starts[0]?.index)
    expect(pieces.length).toBeGreaterThanOrEqual(3)
  })
})
