import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { query } from '../../src/index.ts'
import { sseServer, startSse } from '../support/sse-server.ts'
import { clients, runOnce } from './cut-streams.ts'

const encoder = new TextEncoder()
/** Odd, so that every other cut is an error. */
const step = process.env.SIGNALBOX_FULL === undefined ? 3 : 1

// the clients log each event that was cut in two
beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined))
afterAll(() => vi.restoreAllMocks())

/** A response whose body stops after a number of bytes: regularly, or with an error. */
const cutResponse = (bytes: Uint8Array, at: number, breaks: boolean): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        if (at > 0) controller.enqueue(bytes.slice(0, at))
        if (breaks) controller.error(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
        else controller.close()
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )

/** Deterministic pseudo-random numbers. */
function* seeded(seed: number, count: number, below: number): Generator<number> {
  let state = seed
  for (let n = 0; n < count; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state % below
  }
}

describe.each(Object.entries(clients))('a stream of %s that is cut', (_, { reply, model }) => {
  const bytes = encoder.encode(reply)
  // `runOnce` checks that no call runs twice, and that only complete calls run
  const expectSound = ({ runs, problems }: Awaited<ReturnType<typeof runOnce>>, at: number, most = 1) => {
    expect([at, problems]).toEqual([at, []])
    for (const [id, count] of runs) expect([at, id, count]).toEqual([at, id, Math.min(count, most)])
  }

  it(`L2 L7 L8 at every ${step === 1 ? '' : 'third '}byte, in memory: a valid transcript, and no call runs twice`, async () => {
    const reasons = new Set<string>()
    for (let at = 0; at <= bytes.length; at += at + step > bytes.length ? 1 : step) {
      const outcome = await runOnce(model({ fetch: async () => cutResponse(bytes, at, at % 2 === 0) }))
      expectSound(outcome, at)
      reasons.add(outcome.result.reason)
      if (at < bytes.length / 2) expect(outcome.runs.has('toolu_write') || outcome.runs.has('call_write')).toBe(false)
    }
    expect(reasons).toEqual(new Set(['model_error', 'max_turns']))
  })

  it('L5 L8 over HTTP, at every event and at 200 other places: the same, with another attempt, and no socket stays open', async () => {
    const boundaries = [...reply.matchAll(/\n\n/g)].map(({ index }) => encoder.encode(reply.slice(0, index + 2)).length)
    const places = [...boundaries, ...seeded(42, 200, bytes.length)]
    let breaksAt: number | undefined
    const server = await sseServer((response) => {
      const cut = breaksAt === undefined ? undefined : bytes.slice(0, breaksAt)
      breaksAt = undefined
      startSse(response)
      // the first attempt breaks off, the second is complete
      if (cut === undefined) response.end(reply)
      else response.write(cut, () => response.socket?.destroy())
    })
    for (const at of places) {
      breaksAt = at
      const outcome = await runOnce(model({ url: server.url }), 1)
      // an attempt that broke off may have run what the next one requests again
      expectSound(outcome, at, 2)
      expect([at, outcome.result.reason]).toEqual([at, 'max_turns'])
    }
    await server.allOver()
    await server.close()
  })
})

describe('a service with errors', () => {
  const client = clients['@anthropic-ai/sdk'] as (typeof clients)[string]

  it.each([529, 503, 500, 429])('L5 answers %s, and is asked again', async (status) => {
    const server = await sseServer((response, at) => {
      if (at === 0) return void response.writeHead(status, { 'retry-after-ms': '0' }).end('{}')
      startSse(response)
      response.end(client.reply)
    })
    const { result, runs } = await runOnce(client.model({ url: server.url }), 1)
    expect([result.reason, [...runs.values()], server.requests.length]).toEqual(['max_turns', [1, 1], 2])
    await server.close()
  })

  it.each([400, 401, 404])('L7 answers %s, which ends the query', async (status) => {
    const server = await sseServer((response) => void response.writeHead(status).end('{"error":{"message":"no"}}'))
    const { result } = await runOnce(client.model({ url: server.url }), 3)
    expect([result.reason, server.requests.length]).toEqual(['model_error', 1])
    await server.close()
  })

  it('L5 a stream in packets of one byte is the same stream', async () => {
    const server = await sseServer(async (response) => {
      startSse(response)
      response.socket?.setNoDelay(true)
      for (const byte of encoder.encode(client.reply)) {
        await new Promise((resolve) => response.write(Uint8Array.of(byte), resolve))
      }
      response.end()
    })
    const { result, runs } = await runOnce(client.model({ url: server.url }))
    expect([result.reason, [...runs.values()]]).toEqual(['max_turns', [1, 1]])
    await server.close()
  })

  it('L6 an abort closes the connection', async () => {
    let closed = (): void => undefined
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    let asked = (): void => undefined
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const server = await sseServer((response) => {
      startSse(response)
      response.write(': silence\n\n')
      response.on('close', closed)
      asked()
    })
    const run = query({ messages: 'go', tools: [], model: client.model({ url: server.url }) })
    const first = run.next()
    await isAsked
    run.abort('escape')
    await first
    await isClosed
    await server.close()
  })
})
