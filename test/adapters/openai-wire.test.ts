import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { classifyModelError } from '../../src/models/classify-model-error.ts'
import type { Model } from '../../src/models/model.ts'
import {
  fromChatChunks,
  fromResponsesEvents,
  openaiChatModel,
  openaiResponsesModel,
} from '../../src/models/openai/index.ts'
import { retryAfterMs } from '../../src/models/retry-after.ts'
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
  sendsInPieces,
  sseServer,
  stallsAfter,
} from './support/sse-server.ts'
import { flawsOf } from './support/well-formed.ts'

let server: SseServer
afterEach(() => server.close())

type Api = 'Responses' | 'Chat Completions'

async function modelAt(api: Api, ...answers: Answer[]): Promise<Model> {
  server = await sseServer(...answers)
  const client = new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0, logLevel: 'off' })
  return api === 'Responses'
    ? openaiResponsesModel(client, { model: 'gpt-5.2', store: false })
    : openaiChatModel(client, { model: 'gpt-5.2' })
}

const streams = { Responses: asResponsesEvents, 'Chat Completions': asChatChunks }
const done = frame('[DONE]')
const wires = { Responses: frames(asResponsesEvents), 'Chat Completions': frames(asChatChunks, false) + done }
const plain = (blocks: readonly { type: string; signature?: unknown }[]) =>
  blocks.filter(({ type }) => type === 'text' || type === 'tool_use').map(({ signature, ...block }) => block)

describe.each(['Responses', 'Chat Completions'] as const)('openai against a local service: %s', (api) => {
  const half = frames(streams[api].slice(0, 6), api === 'Responses')

  it('reads a reply, and sends the right request', async () => {
    const model = await modelAt(api, sends(wires[api]))
    const seen = await collect(await model(ask({ tools: [readSchema], system: 'Be brief.' })))
    expect(flawsOf(seen)).toEqual([])
    const reply = readReply(seen)
    expect(plain(reply.blocks)).toEqual(oneReply.blocks)
    expect(reply.stopReason).toBe('tool_use')
    expect(reply.usage).toMatchObject({ input_tokens: 15, output_tokens: 9 })
    const [request] = server.requests
    expect(request?.path).toBe(api === 'Responses' ? '/responses' : '/chat/completions')
    expect(request?.body).toMatchObject({ model: 'gpt-5.2', stream: true, tools: [{ type: 'function' }] })
  })

  it.each([1, 5, 64])('for any chunk size: %i bytes', async (size) => {
    const model = await modelAt(api, sendsInPieces(wires[api], size))
    expect(plain((await replyOf(await model(ask()))).blocks)).toEqual(oneReply.blocks)
  })

  it('sends back a transcript that the service accepts', async () => {
    const model = await modelAt(api, sends(wires[api]))
    const { blocks } = await replyOf(await model(ask()))
    const results = ['call_1', 'call_2'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` }))
    await collect(
      await model(
        ask({
          messages: [
            { role: 'user', content: 'Go.' },
            { role: 'assistant', content: blocks },
            { role: 'user', content: results },
          ],
        }),
      ),
    )
    const { body } = server.requests[1] as { body: Record<string, unknown> }
    if (api === 'Responses') {
      expect(body.input).toEqual([
        { role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
        { role: 'assistant', content: 'Let me “see”.' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
        { type: 'function_call', call_id: 'call_1', name: 'Read', arguments: '{"path":"ä.ts","lines":[1,2]}' },
        { type: 'function_call', call_id: 'call_2', name: 'List', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'of call_1' },
        { type: 'function_call_output', call_id: 'call_2', output: 'of call_2' },
      ])
    } else {
      expect(body.messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
        { role: 'tool', tool_call_id: 'call_1' },
        { role: 'tool', tool_call_id: 'call_2' },
      ])
    }
  })

  it.each([
    [503, { message: 'Overloaded', type: 'server_error' }, 'overloaded'],
    [500, { message: 'Oh', type: 'server_error' }, 'server'],
    [429, { message: 'Slow', type: 'requests', code: 'rate_limit_exceeded' }, 'rate_limited'],
    [429, { message: 'Pay', type: 'insufficient_quota', code: 'insufficient_quota' }, 'auth'],
    [401, { message: 'Key', type: 'invalid_request_error', code: 'invalid_api_key' }, 'auth'],
    [400, { message: 'Long', type: 'invalid_request_error', code: 'context_length_exceeded' }, 'invalid_request'],
  ])('throws an HTTP error before the stream: %i %j', async (status, error, kind) => {
    const model = await modelAt(api, refuses(status, { error }, { 'retry-after-ms': '1500' }))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(thrown).toMatchObject({ status })
    expect(classifyModelError(thrown)).toBe(kind)
    expect(retryAfterMs(thrown)).toBe(1_500)
  })

  it('throws when the connection breaks in mid-stream', async () => {
    const model = await modelAt(api, breaksAfter(half))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(thrown).toBeInstanceOf(Error)
    expect(classifyModelError(thrown)).toBe('connection')
  })

  it('throws when the connection is refused', async () => {
    const model = await modelAt(api, sends(''))
    await server.close()
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(classifyModelError(thrown)).toBe('connection')
  })

  it('an error in mid-stream can be classified', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' }
    const event = api === 'Responses' ? { type: 'error', ...error } : { error }
    const model = await modelAt(api, sends(half + frame(event)))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(classifyModelError(thrown)).toBe('rate_limited')
  })

  it('has no end when the stream just stops', async () => {
    const model = await modelAt(api, sends(half))
    expect((await replyOf(await model(ask()))).stopReason).toBeUndefined()
  })

  it('an abort ends a stalled stream at once, and the service sees the connection close', async () => {
    const model = await modelAt(api, stallsAfter(half))
    const host = new AbortController()
    const reader = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    const translate = api === 'Responses' ? fromResponsesEvents : fromChatChunks
    for (const _ of await collect(translate(streams[api].slice(0, 6)))) await reader.next()
    const pending = reader.next()
    host.abort()
    expect(await pending).toEqual({ done: true, value: undefined })
    await server.requests[0]?.closed
  })
})

describe('openai, Responses', () => {
  it('a response that failed is an error event', async () => {
    const failed = { type: 'response.failed', response: { error: { code: 'server_error', message: 'Oh' } } }
    const model = await modelAt('Responses', sends(frames([...asResponsesEvents.slice(0, 6), failed])))
    expect((await replyOf(await model(ask()))).error).toEqual({ type: 'api_error', message: 'Oh' })
  })
})
