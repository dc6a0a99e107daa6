import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, it } from 'vitest'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { classifyModelError } from '../../src/models/classify-model-error.ts'
import type { Model } from '../../src/models/model.ts'
import { retryAfterMs } from '../../src/models/retry-after.ts'
import { asMessagesEvents, oneReply } from './support/one-reply.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { ask, readSchema } from './support/requests.ts'
import {
  type Answer,
  breaksAfter,
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

async function modelAt(...answers: Answer[]): Promise<Model> {
  server = await sseServer(...answers)
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0, logLevel: 'off' })
  return anthropicModel(client, { model: 'claude-opus-4-8', max_tokens: 64 })
}

/** Without pings, because the library drops them. */
const events = asMessagesEvents.filter((event) => (event as { type: string }).type !== 'ping')
const wire = frames(asMessagesEvents)
const [start, ...rest] = asMessagesEvents
const half = asMessagesEvents.slice(0, 6)

describe('@anthropic-ai/sdk against a local service', () => {
  it('reads a reply, and sends the right request', async () => {
    const model = await modelAt(sends(wire))
    const seen = await collect(await model(ask({ tools: [readSchema], system: 'Be brief.' })))
    expect(seen).toEqual(events)
    expect(server.requests[0]).toMatchObject({
      path: '/v1/messages',
      body: {
        model: 'claude-opus-4-8',
        max_tokens: 64,
        stream: true,
        system: 'Be brief.',
        tools: [readSchema],
        messages: [{ role: 'user', content: 'Go.' }],
      },
    })
  })

  it('keeps the connection until it ends, a moment after the last event', async () => {
    let end = () => {}
    const finished = new Promise<string>((resolve) => {
      end = () => resolve('finished')
    })
    const model = await modelAt(async (response) => {
      response.on('finish', end).writeHead(200, { 'content-type': 'text/event-stream' }).write(wire)
      for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
      response.end()
    })
    expect(await collect(await model(ask()))).toEqual(events)
    const goneAway = server.requests[0]?.closed.then(() => 'gone away')
    expect(await Promise.race([finished, goneAway])).toBe('finished')
  })

  it.each([1, 2, 3, 7, 64])('for any chunk size: %i bytes', async (size) => {
    const text = size < 3 ? frames([start, ...asMessagesEvents.slice(2, 7), ...asMessagesEvents.slice(-2)]) : wire
    const model = await modelAt(sendsInPieces(text, size))
    const { blocks } = await replyOf(await model(ask()))
    expect(blocks[0]).toEqual(oneReply.blocks[0])
  })

  it('ignores a second start of the same message', async () => {
    const model = await modelAt(sends(frames([start, start, ...rest])))
    const seen = await collect(await model(ask()))
    expect(seen.filter(({ type }) => type !== 'ping')).toEqual(events)
  })

  it('throws an error from mid-stream, which can be classified', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const model = await modelAt(sends(frames([...half, error])))
    const seen: unknown[] = []
    const reading = async () => {
      for await (const event of await model(ask())) seen.push(event)
    }
    const thrown = await reading().catch((reason) => reason)
    expect(thrown).toBeInstanceOf(Anthropic.APIError)
    expect(classifyModelError(thrown)).toBe('overloaded')
    expect(seen).toHaveLength(half.length - 1)
  })

  it.each([
    [529, 'overloaded_error', 'overloaded'],
    [500, 'api_error', 'server'],
    [429, 'rate_limit_error', 'rate_limited'],
    [401, 'authentication_error', 'auth'],
    [400, 'invalid_request_error', 'invalid_request'],
    [413, 'request_too_large', 'invalid_request'],
    [504, 'timeout_error', 'timeout'],
  ])('throws an HTTP error before the stream: %i', async (status, type, kind) => {
    const body = { type: 'error', error: { type, message: 'No' } }
    const model = await modelAt(refuses(status, body, { 'retry-after': '7' }))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(thrown).toMatchObject({ status })
    expect(classifyModelError(thrown)).toBe(kind)
    expect(retryAfterMs(thrown)).toBe(7_000)
  })

  it('throws when the connection breaks in mid-stream', async () => {
    const model = await modelAt(breaksAfter(frames(half)))
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(thrown).toBeInstanceOf(Error)
    expect(classifyModelError(thrown)).toBe('connection')
  })

  it('throws when the connection is refused', async () => {
    const model = await modelAt(sends(''))
    await server.close()
    const thrown = await collect(await model(ask())).catch((reason) => reason)
    expect(classifyModelError(thrown)).toBe('connection')
  })

  it('has no end when the stream just stops', async () => {
    const model = await modelAt(sends(frames(half)))
    const seen = await collect(await model(ask()))
    expect(flawsOf(seen)).toEqual([])
    expect(readReply(seen).stopReason).toBeUndefined()
    expect(seen.at(-1)?.type).not.toBe('message_stop')
  })

  it('an abort ends a stalled stream at once, and the service sees the connection close', async () => {
    const model = await modelAt(stallsAfter(frames(half)))
    const host = new AbortController()
    const reader = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    for (let n = 1; n < half.length; n++) await reader.next()
    const pending = reader.next()
    host.abort()
    expect(await pending).toEqual({ done: true, value: undefined })
    await server.requests[0]?.closed
  })

  it('an abort before the service has answered does so too', async () => {
    const model = await modelAt(() => undefined)
    const host = new AbortController()
    const reader = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    const pending = reader.next()
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    host.abort()
    expect(await pending).toEqual({ done: true, value: undefined })
    await server.requests[0]?.closed
  })

  it('leaving a stalled stream closes the connection', async () => {
    const model = await modelAt(stallsAfter(frames(half)))
    for await (const event of await model(ask())) if (event.type === 'content_block_start') break
    await server.requests[0]?.closed
  })

  it('a service that is silent after the last event does not delay the end', async () => {
    const model = await modelAt(stallsAfter(wire))
    expect(await collect(await model(ask()))).toEqual(events)
    await server.requests[0]?.closed
  })
})
