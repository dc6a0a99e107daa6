import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { memoryJournals, openSession } from 'signalbox/durable'
import { describe, expect, it, vi } from 'vitest'
import { allowAllTools, createSession, type QueryMessage, type Session, sessionResponse } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { randomFrom } from '../../../src/testing/repeatable.ts'
import { until } from '../../support/durable-lives.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { flush } from '../../support/turn.ts'

interface Event {
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** What an `EventSource` dispatches: parts that have arrived whole. */
const eventsIn = (text: string): Event[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((part) => {
      const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s)))
      return fields.data === undefined ? [] : [{ ...fields, data: JSON.parse(fields.data) } as Event]
    })

const asking = (lastEventId?: string): Request =>
  new Request('http://host/', { headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } })

/** Reads in the background. */
function connect(session: Session, lastEventId?: string, options?: Parameters<typeof sessionResponse>[2]) {
  const response = sessionResponse(session, asking(lastEventId), options)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const seen = { text: '', isOver: false }
  const decoder = new TextDecoder()
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      seen.text += decoder.decode(value, { stream: true })
    }
    seen.isOver = true
  })()
  return { response, reader, seen, events: () => eventsIn(seen.text) }
}

const short = ({ event, id, data }: Event): string => {
  const { type, status, questions } = data as { type?: string; status?: string; questions?: unknown[] }
  return event === 'state' ? `${status} ${questions?.length}` : `${event} ${type ?? ''}${id === undefined ? '' : ' #'}`
}

describe('a session as server-sent events', () => {
  it('S3 S8 has the status, the open questions and the messages, and goes on after the last id', async () => {
    const [pay, held] = [heldTool('Pay', { startWhen: 'closed' }), heldModel()]
    const session = createSession({ tools: [pay.tool], model: held.model })
    const first = connect(session)
    expect(first.response.headers.get('content-type')).toContain('text/event-stream')
    const seen = (): string[] => first.events().map(short)
    const has = (what: string): boolean => seen().includes(what)
    session.send('pay')
    await until(() => has('running 0') && held.requests.length === 1)
    held.start()
    held.call('p', 'Pay')
    held.end('tool_use')
    await until(() => has('running 1') && has('message system'))
    expect(seen().filter((each) => each.startsWith('message'))).toEqual([
      'message user #',
      'message assistant #',
      'message system',
    ])
    expect(seen().indexOf('running 1')).toBeGreaterThan(seen().indexOf('message assistant #'))
    await first.reader.cancel()
    const last = first.events().findLast(({ id }) => id !== undefined)?.id
    const second = connect(session, last)
    await session.answer(session.questions()[0]?.id as string, { behavior: 'allow' })
    await until(() => pay.started.length === 1)
    pay.run('p').finish({ data: { secret: 'of the server' } })
    await until(() => second.events().some(({ event, id }) => event === 'message' && id !== undefined))
    const result = second.events().find(({ id }) => id !== undefined)?.data as QueryMessage
    expect(result).toMatchObject({ type: 'user', message: { content: [{ tool_use_id: 'p' }] } })
    expect(result).not.toHaveProperty('toolUseResult')
    await session.close()
    await until(() => second.seen.isOver)
  })

  it('S8 tells a page to begin anew if its last id is unknown; `show` changes and leaves out', async () => {
    const session = createSession({ tools: [], model: scriptedModel(['hi']) })
    for await (const _ of session.send('hello'));
    const show = (message: QueryMessage) => (message.type === 'system' ? undefined : message.type)
    const page = connect(session, 'of another life', { show })
    const known = { 'last-event-id': session.transcript[0]?.uuid }
    const ofNode = sessionResponse(session, { headers: known }).text()
    await session.close()
    expect(eventsIn(await ofNode).map(short)).toEqual(['message assistant #', 'message system'])
    await until(() => page.seen.isOver)
    expect(page.events().map(({ event, data }) => (event === 'state' ? event : [event, data]))).toEqual([
      ['reset', {}],
      ['message', 'user'],
      ['message', 'assistant'],
    ])
  })

  it('S8 `keepAliveMs: Infinity` sends no signs of life; a value that is no JSON is left out', async () => {
    const session = createSession({ tools: [], model: scriptedModel(['hi']) })
    for await (const _ of session.send('hello'));
    const clock = vi.spyOn(globalThis, 'setInterval')
    const show = (message: QueryMessage): unknown => (message.type === 'system' ? () => 'a function' : message)
    const page = connect(session, undefined, { show, keepAliveMs: Number.POSITIVE_INFINITY })
    await until(() => page.events().some(({ event }) => event === 'state'))
    expect(clock).not.toHaveBeenCalled()
    clock.mockRestore()
    await session.close()
    await until(() => page.seen.isOver)
    expect(page.events().map(short)).toEqual(['message user #', 'message assistant #', 'idle 0'])
  })

  it('S8 a uuid from outside cannot forge events', async () => {
    const journals = memoryJournals()
    const session = await openSession({ id: 's', journals, tools: [], model: scriptedModel(['hi']) })
    const uuid = 'x\nevent: state\ndata: {"status":"closed"}\n\n'
    await journals.post('s', { type: 'message', uuid, content: 'hello' })
    await until(() => session.transcript.length === 2)
    await session.whenIdle()
    const page = connect(session)
    await session.close()
    await until(() => page.seen.isOver)
    expect(page.events().map(short)).toEqual(['message user', 'message assistant #', 'message system'])
  })

  it('S2 a browser that leaves, at once or while it waits, leaves nothing behind; what is no JSON ends no stream', async () => {
    const [held, read] = [heldModel(), heldTool('Read', { safe: true })]
    const session = createSession({ tools: [read.tool], model: held.model, canUseTool: allowAllTools })
    const returned: string[] = []
    const messages = session.messages.bind(session)
    session.messages = (options) => {
      const view = messages(options)
      const leave = view.return.bind(view)
      view.return = () => {
        returned.push('left')
        return leave()
      }
      return view
    }
    await sessionResponse(session, asking()).body?.cancel()
    const waiting = connect(session, undefined, { keepAliveMs: 1 })
    await until(() => waiting.seen.text.includes(':\n\n'))
    await waiting.reader.cancel()
    expect(returned.length).toBeGreaterThanOrEqual(2)
    const page = connect(session)
    session.send('go')
    await flush()
    held.start()
    held.call('r', 'Read')
    held.end('tool_use')
    await until(() => read.started.length === 1)
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    read.run('r').progress(cycle)
    read.run('r').finish({ data: 1n })
    await until(() => page.events().filter(({ id }) => id !== undefined).length === 3)
    await session.close()
    await until(() => page.seen.isOver)
  })

  it('S2 a browser that waits for days costs no memory for each sign of life', async () => {
    const session = createSession({ tools: [], model: scriptedModel([]) })
    let reactions = 0
    const messages = session.messages.bind(session)
    session.messages = (options) => {
      const view = messages(options)
      const next = view.next.bind(view)
      view.next = () => {
        const step = next()
        const then = step.then.bind(step)
        return Object.assign(step, {
          // biome-ignore lint/suspicious/noThenProperty: counts who waits for the next message
          then: (...both: Parameters<typeof then>) => {
            reactions++
            return then(...both)
          },
        })
      }
      return view
    }
    const page = connect(session, undefined, { keepAliveMs: 1 })
    await until(() => page.seen.text.split(':\n\n').length > 20)
    expect(reactions).toBeLessThan(2)
    await session.close()
    await until(() => page.seen.isOver)
  })

  it('S8 passes through proxies at once; HEAD of a server of node:http gets the headers and no stream', async () => {
    const session = createSession({ tools: [], model: scriptedModel([]) })
    const server = createServer((request, response) => {
      const events = sessionResponse(session, request)
      response.writeHead(events.status, Object.fromEntries(events.headers))
      void pipeline(Readable.fromWeb(events.body as never), response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { headers, ok } = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
    expect(ok).toBe(true)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    await session.close()
    await new Promise((resolve) => server.close(resolve))
  })

  it.each([
    [[undefined, asking()], 'session: expected a session, not a promise of one, received undefined.'],
    [[Promise.resolve(), asking()], 'session: expected a session, not a promise of one, received {}.'],
    [['session'], 'request: expected a request with headers, received undefined.'],
    [['session', { query: {} }], 'request: expected a request with headers, received {"query":{}}.'],
    [['session', asking(), { keepAlive: 5 }], 'Unknown option keepAlive. Known options: show, keepAliveMs.'],
    [['session', asking(), { keepAliveMs: 0 }], 'keepAliveMs: expected more than 0 milliseconds, received 0.'],
    [
      ['session', asking(), { keepAliveMs: Number.NaN }],
      'keepAliveMs: expected more than 0 milliseconds, received NaN.',
    ],
    [['session', asking(), { keepAliveMs: '5' }], 'keepAliveMs: expected more than 0 milliseconds, received "5".'],
    [['session', asking(), null], 'options: expected an object, received null.'],
    [['session', asking(), { show: true }], 'show: expected a function, received true.'],
  ])('refuses %j, with what was expected', ([session, ...others], message) => {
    const given = session === 'session' ? createSession({ tools: [], model: scriptedModel([]) }) : session
    expect(() => sessionResponse(given as never, ...(others as [never]))).toThrow(message)
  })

  it('S8 S9 a page whose connection breaks at any byte, and whose server restarts, shows the conversation', async () => {
    const chance = randomFrom(1)
    for (let round = 0; round < 15; round++) {
      const journals = memoryJournals()
      const tools = ['Read', 'Pay'].map((name) => {
        const call = async ({ n }: { n?: number }) => {
          if (chance() < 0.5) await new Promise((resolve) => setTimeout(resolve, 0))
          return { data: n }
        }
        return { ...heldTool(name, { safe: name === 'Read', startWhen: 'closed' }).tool, call } as never
      })
      let replies = 0
      const model = scriptedModelOf(() => ++replies, chance)
      const open = (): Promise<Session> =>
        openSession({
          id: 's',
          journals,
          tools,
          model,
          canUseTool: allowAllTools,
          retry: { attempts: 3, backoffMs: 0 },
        })
      let session = await open()
      const page = new Map<string, unknown>()
      let last: string | undefined
      /** Takes some bytes of a connection, whatever has arrived whole. */
      const look = async (): Promise<void> => {
        const connection = connect(session, last)
        for (let rounds = chance() * 12; rounds > 0; rounds--) await new Promise((resolve) => setTimeout(resolve, 0))
        await connection.reader.cancel()
        const { text } = connection.seen
        take(eventsIn(text.slice(0, chance() < 0.5 ? text.length : Math.floor(chance() * text.length))))
      }
      const take = (events: readonly Event[]): void => {
        for (const { event, id, data } of events) {
          if (event === 'reset') page.clear()
          const { discarded } = data as { discarded?: string[] }
          for (const uuid of discarded ?? []) page.delete(uuid)
          if (id === undefined) continue
          page.set(id, (data as { message: unknown }).message)
          last = id
        }
      }
      for (let step = 0; step < 12; step++) {
        const what = chance()
        if (what < 0.3) session.send(`prompt ${step}`)
        else if (what < 0.5) {
          if (what < 0.4) await session.close()
          session = await open()
          if (session.status === 'suspended') session.resume()
        }
        await look()
      }
      if (session.status === 'suspended') session.resume()
      await session.whenIdle()
      const rest = connect(session, last)
      await session.close()
      await until(() => rest.seen.isOver)
      take(rest.events())
      const said = session.transcript.map(({ uuid }) => uuid)
      expect([...page.keys()].filter((uuid) => !said.includes(uuid))).toEqual([])
      expect(said.filter((uuid) => !page.has(uuid))).toEqual([])
    }
  })
})

/** Calls both tools in one reply, now and then fails in the middle, and says the end. */
function scriptedModelOf(count: () => number, chance: () => number): Parameters<typeof createSession>[0]['model'] {
  return (request) => {
    const n = count()
    const last = request.messages.at(-1)?.content
    const isResult = Array.isArray(last) && last.some(({ type }) => type === 'tool_result')
    const calls = [
      { call: 'Read', input: { n } },
      { wait: 0 },
      { call: chance() < 0.3 ? 'Pay' : 'Read', input: { n: n + 1 } },
      { wait: 0 },
    ]
    const overloaded = Object.assign(new Error('overloaded'), { status: 529 })
    const fails = chance() < 0.1 ? [{ error: overloaded }] : []
    return scriptedModel([isResult ? `said ${n}` : [`says ${n}`, ...calls, ...fails]])(request)
  }
}
