import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createWebSocketReceiver } from '@statelyai/inspect'
import { query } from 'signalbox'
import { createRecorder, type Frame } from 'signalbox/inspect'
import { scriptedModel } from 'signalbox/scripted'
import { flush, heldTool, heldTurn } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createMachine } from 'xstate'
import { serveStatelyInspect } from '../src/server.ts'
import { listenTo } from './listen.ts'
import { useStage } from './stage.ts'

const onStage = useStage()
const listen = (server: string) => listenTo(createWebSocketReceiver({ server }))

/** A socket that can be closed, which the package's receiver cannot. */
async function rawClient(server: string, options: object = {}) {
  const socket = new WebSocket(server, options)
  const texts: string[] = []
  let check = (): void => undefined
  socket.on('message', (data) => {
    texts.push(String(data))
    check()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const until = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      check = () => isThere() && resolve()
      check()
    })
  return { socket, texts, closed, until }
}

describe('the real WebSocket receiver of @statelyai/inspect', () => {
  it('sees an executor and its call from the start to the end', async () => {
    const { server, add, read, executor } = await onStage()
    const client = listen(server.server)
    await client.until(() => client.actor('executor') !== undefined)
    const root = client.actor('executor')
    expect(root).toMatchObject({
      snapshot: { status: 'active', value: { gate: 'open', run: 'clear' } },
    })
    expect(root?.parentId).toBeUndefined()
    add('a', 'Read', { path: 'a.ts' })
    await flush()
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    await client.until(() => client.snapshot(client.actor('call')?.sessionId)?.status === 'done')
    const call = client.actor('call')
    expect(call).toMatchObject({ parentId: root?.sessionId, rootId: root?.sessionId })
    const mine = <Event extends { sessionId: string }>(events: readonly Event[]): Event[] =>
      events.filter(({ sessionId }) => sessionId === call?.sessionId)
    expect(mine(client.of('@xstate.snapshot')).map(({ snapshot }) => (snapshot as { value?: unknown }).value)).toEqual([
      'queued',
      { executing: { calling: 'here' } },
      { completed: 'durable' },
      'yielded',
    ])
    expect(mine(client.of('@xstate.event')).map(({ event, sourceId }) => [event.type, sourceId])).toEqual([
      ['call.start', root?.sessionId],
      ['tool.settled', undefined],
      ['call.yield', root?.sessionId],
    ])
  })

  it('gets definitions from which XState 5 rebuilds the charts', async () => {
    const model = scriptedModel(['Hello.'])
    const run = query({ messages: 'Go.', tools: [], model })
    const frames: Frame[] = []
    const server = await serveStatelyInspect(run)
    server.add(heldTurn([]).executor)
    const client = listen(server.server)
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
    const { leave } = recorder.watch(run.executor, { queryActor: run.actor })
    leave()
    for await (const _ of run);
    await client.until(() => client.actor('executor') !== undefined)
    for (const { name, definition } of client.of('@xstate.actor')) {
      const chart = frames.flatMap((frame) =>
        frame.type === 'chart' && frame.chart.id === name ? [frame.chart] : [],
      )[0]
      const machine = createMachine(JSON.parse(definition ?? '{}'))
      expect(machine.events.filter((event) => event !== '').sort()).toEqual(
        [...new Set(chart?.transitions.map(({ event }) => event).filter((event) => event !== ''))].sort(),
      )
    }
    await server.close()
  })

  it('gets the current state when it connects late; another receiver does not affect it', async () => {
    const { server, add, read, executor } = await onStage()
    for (const id of ['a', 'b']) add(id, 'Read')
    await flush()
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    const first = listen(server.server)
    await first.until(() => first.of('@xstate.actor').length === 2)
    expect(first.actor('call')?.snapshot).toMatchObject({
      value: { executing: { calling: 'here' } },
      context: { call: { $: 'call', id: 'b' } },
    })
    const second = listen(server.server)
    await second.until(() => second.of('@xstate.actor').length === 2)
    add('c', 'Read')
    for (const client of [first, second]) await client.until(() => client.of('@xstate.actor').length >= 3)
    for (const client of [first, second]) expect(client.of('@xstate.actor')).toHaveLength(3)
  })

  it('that was behind restarts with the current state', async () => {
    const { server, add, executor } = await onStage({ maxBufferedBytes: 64_000_000, limits: { text: 1_000_000 } })
    let steps = 0
    createRecorder({ onFrame: ({ type }) => void (type === 'step' && steps++) }).watch(executor)
    const client = listen(server.server)
    for (let at = 0; at < 20; at++) add(`c${at}`, 'Read')
    await client.until(() => client.of('@xstate.actor').length === 21)
    const calls = client.of('@xstate.actor').filter(({ name }) => name === 'call')
    const before = { heard: client.heard.length, steps }
    executor.abort('x'.repeat(600_000))
    const isStopping = (sessionId: string) =>
      JSON.stringify(client.snapshot(sessionId)?.value) === '{"executing":"stopping"}'
    await client.until(() => calls.every(({ sessionId }) => isStopping(sessionId)))
    const snapshots = client.heard.slice(before.heard).filter(({ type }) => type === '@xstate.snapshot')
    expect(snapshots.length).toBeLessThan(steps - before.steps)
  })

  it('is told that every actor has stopped when the host removes the executor', async () => {
    const { server } = await onStage()
    const other = heldTurn([])
    const client = listen(server.server)
    await client.until(() => client.of('@xstate.actor').length === 1)
    const leave = server.add(other.executor)
    await client.until(() => client.of('@xstate.actor').length === 2)
    const [, second] = client.of('@xstate.actor')
    leave()
    await client.until(() => client.snapshot(second?.sessionId)?.status === 'stopped')
  })
})

describe('the reported data', () => {
  it('has all passed through redact', async () => {
    const { server, add, read, executor } = await onStage({ redact: () => '(hidden)' })
    const client = await rawClient(server.server)
    await client.until(() => client.texts.length > 0)
    add('a', 'Read', { password: 'hunter2' })
    await flush()
    read.run('a').finish({ data: 'hunter2' })
    await flush()
    expect(JSON.stringify([...executor.getCompletedResults()])).toContain('hunter2')
    executor.abort({ why: 'hunter2' })
    await client.until(() => client.texts.some((text) => text.includes('abort.userInterrupted')))
    expect(client.texts.join()).not.toContain('hunter2')
    expect(client.texts.join()).toContain('(hidden)')
    client.socket.terminate()
    await client.closed
  })

  it('goes one way: messages of a receiver have no effect', async () => {
    const { server, executor, add } = await onStage()
    const client = await rawClient(server.server)
    for (const text of ['{', 'null', '{"type":"@xstate.event","event":{"type":"abort.userInterrupted"}}'])
      client.socket.send(text)
    await client.until(() => client.texts.length > 0)
    add('a', 'Read')
    await client.until(() => client.texts.some((text) => text.includes('"name":"call"')))
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'clear' })
    client.socket.terminate()
    await client.closed
  })

  it('throws at once if the address of the hosted inspector is not a URL', async () => {
    await expect(serveStatelyInspect([], { inspector: 'nowhere' })).rejects.toThrow('Invalid URL')
  })

  it('needs the full address, and is not available to other pages', async () => {
    const { server } = await onStage()
    await expect(rawClient(new URL('/', server.server).href)).rejects.toThrow('401')
    await expect(rawClient(server.server, { origin: 'https://evil.example' })).rejects.toThrow('403')
  })
})

describe('without a receiver', () => {
  it('nothing is watched before the first one connects and after the last one has left', async () => {
    let [looks, calls] = [0, 0]
    const redact = (value: unknown) => {
      looks++
      return value
    }
    const { server, add } = await onStage({ redact })
    const looksAtOneMore = () => {
      const before = looks
      add(`c${++calls}`, 'Read')
      return looks - before
    }
    expect(looksAtOneMore()).toBe(0)
    const client = await rawClient(server.server)
    await client.until(() => client.texts.length === 2)
    expect(looksAtOneMore()).toBeGreaterThan(0)
    client.socket.close()
    await client.closed
    // the server notices the close a moment later
    await expect.poll(looksAtOneMore).toBe(0)
  })

  it('nothing is kept', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const server = await serveStatelyInspect()
    const watchOne = async () => {
      const { executor, add } = heldTurn([heldTool('Read').tool])
      const leave = server.add(executor)
      add('a', 'Read')
      const client = await rawClient(server.server)
      await client.until(() => client.texts.length === 2)
      leave()
      client.socket.close()
      await client.closed
      return new WeakRef(executor)
    }
    const gone = await watchOne()
    const isGone = () => {
      gc()
      return gone.deref() === undefined
    }
    await expect.poll(isGone).toBe(true)
    await server.close()
  })
})
