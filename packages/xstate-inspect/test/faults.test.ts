import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRecorder } from 'signalbox/inspect'
import { flush, heldTool, heldTurn } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveXStateInspect } from '../src/server.ts'
import { useWebSocketReceivers } from './receiver.ts'
import { useStage } from './stage.ts'

const listen = useWebSocketReceivers()
const onStage = useStage()

/** A raw client that keeps every message unparsed. */
async function rawClient(server: string, options: object = {}) {
  const socket = new WebSocket(`ws://${server}`, options)
  const texts: string[] = []
  let check = (): void => undefined
  socket.on('message', (data) => {
    texts.push(String(data))
    check()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const until = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      check = () => isThere() && resolve()
      check()
    })
  return { socket, texts, closed, until }
}

const refusal = (url: string, options: object = {}): Promise<number | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(url, options)
    socket.once('unexpected-response', (_, response) => {
      resolve(response.statusCode)
      socket.terminate()
    })
    socket.once('error', () => undefined)
    socket.once('open', () => resolve(101))
  })

const inspecting = JSON.stringify({ type: 'xstate.inspecting' })

describe('access', () => {
  it('needs the full address and the right host name, and allows only listed pages or clients that are not pages', async () => {
    const { server } = await onStage({ origins: ['https://stately.ai'] })
    const [host = '', token = ''] = server.server.split('/')
    const other = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
    expect(await refusal(`ws://${host}/`)).toBe(401)
    expect(await refusal(`ws://${host}/${other}`)).toBe(401)
    expect(await refusal(`ws://${host}/${token}`, { origin: 'https://evil.example' })).toBe(403)
    expect(await refusal(`ws://${host}/${token}`, { origin: 'null' })).toBe(403)
    expect(await refusal(`ws://${host}/${token}`, { headers: { host: 'evil.example' } })).toBe(421)
    expect(await refusal(`ws://${host}/${token}`, { origin: 'https://stately.ai' })).toBe(101)
    expect(await refusal(`ws://${host}/${token}`)).toBe(101)
  })

  it('listens on loopback only', async () => {
    const { server } = await onStage()
    const port = Number(new URL(`http://${server.server}`).port)
    const outside = Object.values(networkInterfaces())
      .flat()
      .filter((each) => each?.family === 'IPv4' && !each.internal)
    // a port bound to every address cannot be bound again
    for (const each of outside) {
      const probe = createServer()
      await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(port, each?.address, resolve))
      expect((probe.address() as AddressInfo).port).toBe(port)
      await new Promise((resolve) => probe.close(resolve))
    }
    const status = await new Promise((resolve) =>
      request(`http://${server.server}`, (response) => resolve(response.statusCode)).end(),
    )
    expect(status).toBe(404)
  })
})

describe('misuse by a client', () => {
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a number', '7'],
    ['an event that is no text', '{"type":"xstate.event","event":7}'],
    ['an event that is no JSON', '{"type":"xstate.event","event":"{"}'],
    ['an event of nobody', '{"type":"xstate.event","event":"{\\"name\\":\\"x\\"}"}'],
    ['an event that is nothing', '{"type":"xstate.event","event":"null"}'],
    ['the end for everyone', '{"type":"disconnect"}'],
    ['a service that is none', '{"type":"service.register","machine":"{}","state":"{}","sessionId":"x"}'],
    ['a client of its own', '{"type":"xstate.inspecting","client":{"send":1}}'],
  ])('%s affects no other client', async (_, text) => {
    const { server, add } = await onStage({ allowCommands: true })
    const [bad, good] = [await rawClient(server.server), listen(server.server)]
    await good.until(() => good.of('service.register').length === 1)
    bad.socket.send(text)
    bad.socket.send(inspecting)
    await bad.until(() => bad.texts.length > 0)
    add('a', 'Read')
    await good.until(() => good.of('service.register').length === 2)
    expect(good.of('service.register').map(({ machine }) => machine.id)).toEqual(['executor', 'call'])
    bad.socket.terminate()
    await bad.closed
  })

  it('a message of bytes, or one that is too long, ends its own connection only', async () => {
    const { server, add } = await onStage()
    const good = listen(server.server)
    for (const message of [Buffer.from([1, 2, 3]), 'x'.repeat(70_000)]) {
      const bad = await rawClient(server.server)
      bad.socket.send(message)
      expect([1003, 1009]).toContain(await bad.closed)
    }
    add('a', 'Read')
    await good.until(() => good.sessionOf('call') !== '')
  })
})

describe('a receiver that was behind', () => {
  it('gets fewer messages, and gets the current state when it has caught up', async () => {
    const { server, add, read, executor } = await onStage({ maxBufferedBytes: 64_000_000, limits: { text: 1_000_000 } })
    let steps = 0
    createRecorder({ onFrame: ({ type }) => void (type === 'step' && steps++) }).watch(executor)
    const client = listen(server.server)
    const ids = Array.from({ length: 20 }, (_, at) => `c${at}`)
    for (const id of ids) add(id, 'Read')
    await client.until(() => client.of('service.register').length === 21)
    const calls = client
      .of('service.register')
      .flatMap(({ sessionId, machine }) => (machine.id === 'call' ? [sessionId] : []))
    const from = { heard: client.heard.length, steps }
    // every call gets the reason at once: more than any socket buffer can hold
    executor.abort('x'.repeat(600_000))
    await client.until(() => calls.every((each) => JSON.stringify(client.valueOf(each)) === '{"executing":"stopping"}'))
    const states = client.heard.slice(from.heard).filter(({ type }) => type === 'service.state')
    expect(states.length).toBeLessThan(steps - from.steps)
    for (const id of ids) read.run(id).finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(20)
    await client.until(() => client.of('service.stop').length === 20)
    expect(client.of('service.stop').map(({ sessionId }) => sessionId)).toEqual(calls)
  })
})

describe('the reported data', () => {
  const secret = 'hunter2-hunter2'

  it('has all passed through redact', async () => {
    const { server, add, read, executor } = await onStage({ redact: () => '(hidden)' })
    const client = await rawClient(server.server)
    client.socket.send(inspecting)
    add('a', 'Read', { password: secret })
    await flush()
    read.run('a').progress({ line: secret })
    read.run('a').finish({ data: secret })
    await flush()
    expect(JSON.stringify([...executor.getCompletedResults()])).toContain(secret)
    add('b', 'Read', { password: secret })
    executor.abort({ why: secret })
    await client.until(() => client.texts.filter((text) => text.includes('service.stop')).length > 0)
    expect(client.texts.length).toBeGreaterThan(10)
    expect(client.texts.join()).not.toContain(secret)
    expect(client.texts.join()).toContain('(hidden)')
    client.socket.terminate()
    await client.closed
  })

  it('is empty if redact throws', async () => {
    const redact = () => {
      throw new Error(secret)
    }
    const { server, add } = await onStage({ redact })
    const client = await rawClient(server.server)
    client.socket.send(inspecting)
    add('a', 'Read', { password: secret })
    await client.until(() => client.texts.join().includes('withheld'))
    expect(client.texts.join()).not.toContain(secret)
    client.socket.terminate()
    await client.closed
  })

  it('can be anything: cycles, functions, large values, getters that throw', async () => {
    const { server, executor, add } = await onStage()
    const client = listen(server.server)
    await client.until(() => client.of('service.register').length > 0)
    const odd: Record<string, unknown> = { big: 10n, call: () => 1, text: 'x'.repeat(1_000_000) }
    odd.self = odd
    const trap = () => {
      throw new Error('no')
    }
    Object.defineProperty(odd, 'trap', { enumerable: true, get: trap })
    odd.list = Array(100_000).fill(1)
    add('a', 'Read')
    executor.abort(odd)
    await client.until(() => client.of('service.event').some(({ event }) => event.name === 'abort.userInterrupted'))
    const seen = client.of('service.event').find(({ event }) => event.name === 'abort.userInterrupted')
    expect(JSON.stringify(seen).length).toBeLessThan(20_000)
    expect(seen?.event.data.reason).toMatchObject({
      self: { $: 'cycle' },
      big: { $: 'bigint' },
      call: { $: 'function' },
    })
  })
})

describe('without a receiver', () => {
  it('nothing is watched before the first one connects and after the last one has left', async () => {
    let looks = 0
    let calls = 0
    const redact = (value: unknown) => {
      looks++
      return value
    }
    const { server, add } = await onStage({ redact })
    add('a', 'Read')
    await flush()
    expect(looks).toBe(0)
    const client = await rawClient(server.server)
    expect(looks).toBeGreaterThan(0)
    client.socket.close()
    await client.closed
    // the server notices the close a moment later
    const looksAtOneMore = () => {
      const before = looks
      add(`c${++calls}`, 'Read')
      return looks - before
    }
    await expect.poll(looksAtOneMore).toBe(0)
  })

  it('nothing is kept: neither the executor nor its data', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const server = await serveXStateInspect()
    const watchOne = async () => {
      const read = heldTool('Read', { safe: true })
      const { executor, add } = heldTurn([read.tool])
      const leave = server.add(executor)
      const client = await rawClient(server.server)
      client.socket.send(inspecting)
      await client.until(() => client.texts.length > 0)
      add('a', 'Read')
      await flush()
      read.run('a').finish()
      await flush()
      expect([...executor.getCompletedResults()]).toHaveLength(1)
      await client.until(() => client.texts.some((text) => text.includes('service.stop')))
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
