import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAI as createOpenAIv2 } from '@ai-sdk/openai-v2'
import { createOpenAI as createOpenAIv3 } from '@ai-sdk/openai-v3'
import { afterEach, describe, expect, it } from 'vitest'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { classifyModelError } from '../../src/models/classify-model-error.ts'
import type { Model } from '../../src/models/model.ts'
import { retryAfterMs } from '../../src/models/retry-after.ts'
import { checked } from '../support/services/checked.ts'
import { asChatChunks, asResponsesEvents, oneReply } from './support/one-reply.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { ask, readSchema } from './support/requests.ts'
import {
  type Answer,
  breaksAfter,
  frame,
  frames,
  refuses,
  type SseServer,
  sends,
  sseServer,
  stallsAfter,
} from './support/sse-server.ts'
import { flawsOf } from './support/well-formed.ts'
import { lastMessage } from './support/wires.ts'

let server: SseServer
afterEach(() => server.close())

const wire = frames(asChatChunks, false) + frame('[DONE]')
const half = frames(asChatChunks.slice(0, 6), false)

/** A provider of each version of the interface, as published. */
const providers: [string, (baseURL: string) => Model][] = [
  [
    'v4',
    (baseURL) => aiSdkModel(checked(createOpenAI({ baseURL, apiKey: 'none' }).chat('m')), { maxOutputTokens: 64 }),
  ],
  [
    'v3',
    (baseURL) => aiSdkModel(checked(createOpenAIv3({ baseURL, apiKey: 'none' }).chat('m')), { maxOutputTokens: 64 }),
  ],
  [
    'v2',
    (baseURL) => aiSdkModel(checked(createOpenAIv2({ baseURL, apiKey: 'none' }).chat('m')), { maxOutputTokens: 64 }),
  ],
]

async function modelAt(make: (baseURL: string) => Model, ...answers: Answer[]): Promise<Model> {
  server = await sseServer(...answers)
  return make(server.url)
}

describe.each(providers)('a provider of the AI SDK against a local service: %s', (_, make) => {
  it('reads a reply, and sends back a transcript that the service accepts', async () => {
    const model = await modelAt(make, sends(wire))
    const events = await collect(await model(ask({ tools: [readSchema], system: 'Be brief.' })))
    expect(flawsOf(events)).toEqual([])
    const { blocks, stopReason, usage } = readReply(events)
    expect(blocks.map(({ signature, ...block }) => block)).toEqual(oneReply.blocks)
    expect(stopReason).toBe('tool_use')
    expect(usage).toMatchObject({ input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 })
    const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    await collect(
      await model(
        ask({
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'Go.' }, png] },
            { role: 'assistant', content: blocks },
            {
              role: 'user',
              content: [
                { type: 'tool_result', tool_use_id: 'call_1', content: 'gone', is_error: true },
                { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'ok' }] },
              ],
            },
          ],
        }),
      ),
    )
    const [first, second] = server.requests
    expect(first?.body).toMatchObject({ messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }] })
    expect(first?.body.tools).toMatchObject([{ function: { name: 'Read', parameters: readSchema.input_schema } }])
    expect(second?.body.messages).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('gone') },
      { role: 'tool', tool_call_id: 'call_2', content: 'ok' },
    ])
  })

  it('throws an HTTP error before the stream', async () => {
    const model = await modelAt(make, refuses(529, { error: { message: 'Busy' } }, { 'retry-after': '3' }))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(classifyModelError(thrown)).toBe('overloaded')
    expect(retryAfterMs(thrown)).toBe(3_000)
  })

  it('a connection that breaks in mid-stream is classified as a connection error', async () => {
    const model = await modelAt(make, breaksAfter(half))
    const thrown = await replyOf(await model(ask())).catch((reason) => reason)
    expect(classifyModelError(thrown)).toBe('connection')
  })

  it('leaving a stalled stream closes the connection', async () => {
    const model = await modelAt(make, stallsAfter(half))
    for await (const event of await model(ask())) if (event.type === 'content_block_delta') break
    await server.requests[0]?.closed
  })
})

describe('a provider of the AI SDK for the Responses API', () => {
  it('reads the same reply; the service’s own items are kept for it', async () => {
    const model = await modelAt(
      (baseURL) => aiSdkModel(checked(createOpenAI({ baseURL, apiKey: 'none' }).responses('m'))),
      sends(frames(asResponsesEvents)),
    )
    const { blocks, error } = await replyOf(await model(ask()))
    expect(error).toBeUndefined()
    const plain = blocks.filter(({ type }) => type === 'text' || type === 'tool_use')
    expect(plain.map(({ signature, ...block }) => block)).toEqual(oneReply.blocks)
    const results = ['call_1', 'call_2'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
    await collect(
      await model(
        ask({
          messages: [
            { role: 'assistant', content: blocks },
            { role: 'user', content: results },
          ],
        }),
      ),
    )
    expect(server.requests[1]?.body.input).toMatchObject([
      { type: 'item_reference', id: 'msg_0' },
      { type: 'item_reference', id: 'ws_1' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_2' },
    ])
  })
})

describe('a provider of the AI SDK for the Messages API', () => {
  const claude = (baseURL: string) =>
    aiSdkModel(checked(createAnthropic({ baseURL, apiKey: 'none' })('claude-opus-5-5')))

  it('gets ids that Anthropic accepts, from any service', async () => {
    const model = await modelAt(claude, sends(lastMessage))
    const ids = ['functions.Read:0', 'call_a|fc_1', 'call_a fc_1']
    await collect(
      await model(
        ask({
          messages: [
            { role: 'user', content: 'Go.' },
            { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} })) },
            { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: id })) },
          ],
        }),
      ),
    )
    const { body } = server.requests[0] as { body: { messages?: { content: Record<string, string>[] }[] } }
    const [, said, heard] = body.messages ?? []
    const sent = said?.content.map(({ id }) => id)
    expect(sent?.every((id) => /^[a-zA-Z0-9_-]+$/.test(id ?? ''))).toBe(true)
    expect(new Set(sent).size).toBe(3)
    expect(heard?.content.map(({ tool_use_id }) => tool_use_id)).toEqual(sent)
  })

  it('gets the marks of the prompt cache', async () => {
    const model = await modelAt(claude, sends(lastMessage))
    const cache_control = { type: 'ephemeral' }
    await collect(
      await model(
        ask({
          system: [{ type: 'text', text: 'Long.', cache_control }],
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.', cache_control }] }],
        }),
      ),
    )
    expect(server.requests[0]?.body).toMatchObject({
      system: [{ text: 'Long.', cache_control }],
      messages: [{ content: [{ text: 'Go.', cache_control }] }],
    })
  })
})
