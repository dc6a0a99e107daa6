import { createRequire } from 'node:module'
import { query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { flush, heldTool, heldTurn } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { serveXStateInspect } from '../src/server.ts'
import { useWebSocketReceivers } from './receiver.ts'
import { useStage } from './stage.ts'

const listen = useWebSocketReceivers()
const onStage = useStage()
const values = (frames: readonly { value?: unknown }[]): unknown[] => frames.map(({ value }) => value)

describe('the real WebSocket receiver of @xstate/inspect', () => {
  it('sees an executor and its call from the start to the end', async () => {
    const { server, add, read, executor } = await onStage()
    const client = listen(server.server)
    await client.until(() => client.sessionOf('executor') !== '')
    const root = client.sessionOf('executor')
    expect(client.valueOf(root)).toEqual({ gate: 'open', run: 'clear' })
    add('a', 'Read', { path: 'a.ts' })
    await flush()
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    await client.until(() => client.of('service.stop').length === 1)
    const call = client.sessionOf('call')
    expect(client.of('service.stop')[0]?.sessionId).toBe(call)
    const states = client.of('service.state').filter(({ sessionId }) => sessionId === call)
    expect(values(states.map(({ state }) => state))).toEqual([
      'queued',
      { executing: { calling: 'here' } },
      { completed: 'durable' },
      'yielded',
    ])
    const events = client.of('service.event').filter(({ sessionId }) => sessionId === call)
    expect(events.map(({ event }) => event.name)).toEqual(['xstate.init', 'call.start', 'tool.settled', 'call.yield'])
    expect(client.valueOf(root)).toEqual({ gate: 'open', run: 'clear' })
  })

  it('gets the current states when it connects late, and nothing that has ended', async () => {
    const { server, add, read, executor } = await onStage()
    add('a', 'Read')
    add('b', 'Read')
    add('c', 'Write', { path: 'c.ts' })
    await flush()
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    const client = listen(server.server)
    await client.until(() => client.of('service.register').length === 3)
    const shown = client.of('service.register').map(({ machine, state }) => [machine.id, state.value, state.context])
    expect(shown).toEqual([
      ['executor', { gate: 'shared', run: 'clear' }, expect.objectContaining({ starts: 2 })],
      ['call', { executing: { calling: 'here' } }, expect.objectContaining({ call: { $: 'call', id: 'b' } })],
      ['call', 'queued', expect.objectContaining({ call: { $: 'call', id: 'c' } })],
    ])
  })

  it('gets no repeated messages when another receiver connects', async () => {
    const { server, add } = await onStage()
    add('a', 'Read')
    const [first, second] = [listen(server.server), listen(server.server)]
    await first.until(() => first.of('service.register').length === 2)
    await second.until(() => second.of('service.register').length === 2)
    const third = listen(server.server)
    await third.until(() => third.of('service.register').length === 2)
    add('b', 'Write')
    for (const client of [first, second, third]) await client.until(() => client.of('service.register').length >= 3)
    for (const client of [first, second, third]) expect(client.of('service.register')).toHaveLength(3)
  })

  it('sees a query, its executor and its calls, and more that is added', async () => {
    const read = heldTool('Read', { safe: true })
    const model = scriptedModel([[{ call: 'Read', input: { path: 'a.ts' } }], 'Read it.'])
    const run = query({ messages: 'Go.', tools: [read.tool], model, canUseTool: () => ({ behavior: 'allow' }) })
    const server = await serveXStateInspect(run)
    const client = listen(server.server)
    const other = heldTurn([read.tool])
    await new Promise<void>((resolve) => {
      const look = () => (read.started.length > 0 ? resolve() : void setImmediate(look))
      void (async () => {
        for await (const _ of run);
      })()
      look()
    })
    const leave = server.add(other.executor)
    await client.until(() => client.of('service.register').length >= 4)
    const shown = client.of('service.register').map(({ machine }) => machine.id)
    expect([...shown].sort()).toEqual(['call', 'executor', 'executor', 'query'])
    leave()
    await client.until(() => client.of('service.stop').length > 0)
    read.run(read.started[0] as string).finish()
    await client.until(() => client.of('service.stop').length >= 4)
    await server.close()
  })

  it('shows only the executors of its own server', async () => {
    const require = createRequire(import.meta.url)
    const loadedBefore = require('@xstate/inspect/lib/server')
    const [one, other] = [await onStage(), await onStage()]
    const client = listen(one.server.server)
    const elsewhere = listen(other.server.server)
    await client.until(() => client.of('service.register').length > 0)
    await elsewhere.until(() => elsewhere.of('service.register').length > 0)
    other.add('hidden', 'Read')
    one.add('shown', 'Read')
    await client.until(() => client.of('service.register').length > 1)
    await elsewhere.until(() => elsewhere.of('service.register').length > 1)
    expect(JSON.stringify(client.of('service.state'))).not.toContain('hidden')
    expect(client.of('service.register')).toHaveLength(2)
    expect('__xstate__' in globalThis).toBe(false)
    expect(require('@xstate/inspect/lib/server')).toBe(loadedBefore)
  })
})
