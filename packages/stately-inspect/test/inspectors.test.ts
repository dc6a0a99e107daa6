import type { AddressInfo } from 'node:net'
import {
  createBrowserInspector,
  createBrowserReceiver,
  createInspector,
  createWebSocketInspector,
  createWebSocketReceiver,
  type StatelyInspectionEvent,
} from '@statelyai/inspect'
import { flush, heldTool, heldTurn } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { showInStately } from '../src/index.ts'
import { listenTo } from './listen.ts'

const setUp = () => {
  const read = heldTool('Read', { safe: true })
  return { read, ...heldTurn([read.tool]) }
}

describe('the inspectors of @statelyai/inspect', () => {
  it('createBrowserInspector shows a turn in a frame, to the real browser receiver', async () => {
    const { executor, add, read } = setUp()
    const [app, inside] = [new EventTarget(), new EventTarget()]
    const arrive = (target: EventTarget) => (data: unknown) =>
      queueMicrotask(() => target.dispatchEvent(Object.assign(new Event('message'), { data: structuredClone(data) })))
    const frame = Object.assign(new EventTarget(), {
      contentWindow: { postMessage: arrive(inside) },
      setAttribute: () => undefined,
    })
    const inspector = createBrowserInspector({
      window: app as unknown as Window,
      iframe: frame as unknown as HTMLIFrameElement,
    })
    const showing = showInStately(executor, inspector)
    add('a', 'Read')
    frame.dispatchEvent(new Event('load'))
    const window = Object.assign(inside, { self: 1, top: 2, parent: { postMessage: arrive(app) } })
    const client = listenTo(createBrowserReceiver({ window: window as unknown as Window }))
    await client.until(() => client.actor('call') !== undefined)
    await flush()
    read.run('a').finish()
    await client.until(
      () => JSON.stringify(client.snapshot(client.actor('call')?.sessionId)?.value) === '{"completed":"durable"}',
    )
    expect(client.actor('call')?.parentId).toBe(client.actor('executor')?.sessionId)
    showing.leave()
    await client.until(() => client.snapshot(client.actor('executor')?.sessionId)?.status === 'stopped')
    const before = client.heard.length
    add('b', 'Read')
    await flush()
    expect(client.heard).toHaveLength(before)
    inspector.stop()
  })

  it('createWebSocketInspector sends a turn to a relay, and the real receiver gets it from there', async () => {
    const { executor, add } = setUp()
    const relay = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await new Promise((resolve) => relay.once('listening', resolve))
    const joined = new Promise<void>((resolve) => relay.once('connection', () => resolve()))
    relay.on('connection', (socket) =>
      socket.on('message', (data) => {
        for (const other of relay.clients) if (other !== socket) other.send(String(data))
      }),
    )
    const url = `ws://127.0.0.1:${(relay.address() as AddressInfo).port}`
    const client = listenTo(createWebSocketReceiver({ server: url }))
    await joined
    const inspector = createWebSocketInspector({ url })
    const showing = showInStately(executor, inspector)
    add('a', 'Read')
    await client.until(() => client.actor('call') !== undefined)
    expect(JSON.parse(client.actor('call')?.definition ?? '{}')).toMatchObject({ id: 'call', initial: 'queued' })
    showing.leave()
    inspector.stop()
    const closed = new Promise((resolve) => relay.close(resolve))
    for (const socket of relay.clients) socket.terminate()
    await closed
  })

  it('an adapter that throws does not affect the turn', async () => {
    const { executor, add, read } = setUp()
    const send = () => {
      throw new Error('no')
    }
    const showing = showInStately(executor, createInspector({ send }))
    add('a', 'Read')
    await flush()
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    showing.leave()
  })

  it('the package’s own filters and sanitizers still apply', () => {
    const { executor, add } = setUp()
    const sent: StatelyInspectionEvent[] = []
    const inspector = createInspector(
      { send: (event) => void sent.push(event) },
      {
        filter: ({ type }) => type !== '@xstate.event',
        sanitizeContext: () => ({ clean: true }),
      },
    )
    const showing = showInStately(executor, inspector)
    add('a', 'Read')
    expect(new Set(sent.map(({ type }) => type))).toEqual(new Set(['@xstate.actor', '@xstate.snapshot']))
    for (const event of sent)
      expect((event as { snapshot: { context: unknown } }).snapshot.context).toEqual({ clean: true })
    showing.leave()
  })

  it.each([
    [undefined, 12],
    [20, 0],
  ])('with a limit of depth of %s the definitions lose %i lists of actions, and nothing else', (depth, lost) => {
    const { executor, add } = setUp()
    const sent: StatelyInspectionEvent[] = []
    const adapter = { send: (event: StatelyInspectionEvent) => void sent.push(event) }
    const options = depth === undefined ? {} : { serializationDepthLimit: depth }
    const showing = showInStately(executor, createInspector(adapter, options))
    add('a', 'Read')
    const definitions = sent.flatMap((event) => (event.type === '@xstate.actor' ? [event.definition ?? ''] : []))
    expect(definitions).toHaveLength(2)
    expect(definitions.join().match(/"\w+":"\[(Array|Object)\]"/g) ?? []).toEqual(
      Array(lost).fill('"actions":"[Array]"'),
    )
    showing.leave()
  })
})
