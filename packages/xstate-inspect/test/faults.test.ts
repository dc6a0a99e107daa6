import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { heldTool, heldTurn, settled } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveXStateInspect } from '../src/server.ts'
import { useWebSocketReceivers } from './receiver.ts'
import { useStage } from './stage.ts'

const listen = useWebSocketReceivers()
const onStage = useStage()

/** A client that is not the package's own: every message as it came. */
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

describe('who may look', () => {
  it('only who has the address, by its own name, from a page that was named or from no page', async () => {
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

  it('is on loopback and nowhere else', async () => {
    const { server } = await onStage()
    const port = Number(new URL(`http://${server.server}`).port)
    const outside = Object.values(networkInterfaces())
      .flat()
      .filter((each) => each?.family === 'IPv4' && !each.internal)
    // what is bound to every address cannot be bound to another one again
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

describe('what a client may do wrong', () => {
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
  ])('%s costs nobody anything', async (_, text) => {
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

  it('one that never reads is dropped, and the turn does not notice', async () => {
    const { server, add, read, executor } = await onStage({ maxBufferedBytes: 100_000 })
    const { hostname, port, pathname } = new URL(`http://${server.server}`)
    const deaf = connect(Number(port), hostname)
    const head = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
    deaf.write(`${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`)
    await new Promise((resolve) => deaf.once('data', resolve))
    const gone = new Promise((resolve) => deaf.once('close', resolve))
    deaf.pause()
    deaf.on('error', () => undefined)
    // {"type":"xstate.inspecting"}, masked with zeros
    const payload = Buffer.from(inspecting)
    deaf.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]))
    const witness = listen(server.server)
    await witness.until(() => witness.of('service.register').length > 0)
    const count = 3_000
    for (let at = 0; at < count; at++) {
      add(`c${at}`, 'Read', { text: 'x'.repeat(500) })
      // the kernel takes some megabytes, so that what is on its way to a deaf one has to be made first
      if (at % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
    }
    for (let at = 0; at < count; at++) read.run(`c${at}`).finish()
    await settled()
    expect([...executor.getCompletedResults()]).toHaveLength(count)
    deaf.resume()
    await gone
  })
})

describe('a receiver that was behind', () => {
  it('is told less, and begins again with the present when it has caught up', async () => {
    const { server, add, read, executor } = await onStage({ maxBufferedBytes: 8_000_000 })
    const client = listen(server.server)
    await client.until(() => client.of('service.register').length > 0)
    const count = 400
    for (let at = 0; at < count; at++) add(`c${at}`, 'Read')
    await settled()
    for (let at = 0; at < count - 1; at++) read.run(`c${at}`).finish()
    await settled()
    expect([...executor.getCompletedResults()]).toHaveLength(count - 1)
    // all in one go, before a byte could leave
    const last = `c${count - 1}`
    const sees = () =>
      client.of('service.register').some(({ state }) => JSON.stringify(state.context).includes(`"${last}"`))
    await client.until(sees)
    const session = client.heard.findLast(
      (event) => event.type === 'service.register' && JSON.stringify(event.state.context).includes(`"${last}"`),
    ) as { sessionId: string }
    expect(client.valueOf(session.sessionId)).toEqual({ executing: 'calling' })
    expect(client.of('service.state').length).toBeLessThan(count * 4)
    const stopped = new Set(client.of('service.stop').map(({ sessionId }) => sessionId))
    const shown = new Set(client.of('service.register').map(({ sessionId }) => sessionId))
    // whatever it was shown and is over, it was told of
    expect([...shown].filter((each) => !stopped.has(each))).toHaveLength(2)
  })
})

describe('what is shown', () => {
  const secret = 'hunter2-hunter2'

  it('has passed the hook of the host, all of it', async () => {
    const { server, add, read, executor } = await onStage({ redact: () => '(hidden)' })
    const client = await rawClient(server.server)
    client.socket.send(inspecting)
    add('a', 'Read', { password: secret })
    await settled()
    read.run('a').progress({ line: secret })
    read.run('a').finish({ data: secret })
    await settled()
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

  it('is nothing where the hook throws', async () => {
    const redact = () => {
      throw new Error(secret)
    }
    const { server, add } = await onStage({ redact })
    const client = await rawClient(server.server)
    client.socket.send(inspecting)
    add('a', 'Read', { password: secret })
    await client.until(() => client.texts.some((text) => text.includes('withheld') && text.includes('service.state')))
    expect(client.texts.join()).not.toContain(secret)
    client.socket.terminate()
    await client.closed
  })

  it('can be anything: cycles, functions, big things, getters that throw', async () => {
    const { server, executor, add } = await onStage()
    const client = listen(server.server)
    await client.until(() => client.of('service.register').length > 0)
    const odd: Record<string, unknown> = {
      big: 10n,
      call: () => 1,
      text: 'x'.repeat(1_000_000),
      list: Array(100_000).fill(1),
    }
    odd.self = odd
    Object.defineProperty(odd, 'trap', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
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

describe('when nobody looks', () => {
  it('nothing is watched before the first one comes and after the last one has gone', async () => {
    let looks = 0
    const { server, add } = await onStage({ redact: (value) => Object.is(looks++, -1) || value })
    add('a', 'Read')
    await settled()
    expect(looks).toBe(0)
    const client = await rawClient(server.server)
    expect(looks).toBeGreaterThan(0)
    client.socket.close()
    await client.closed
    const again = await rawClient(server.server)
    again.socket.close()
    await again.closed
    const before = looks
    add('b', 'Read')
    await settled()
    expect(looks).toBe(before)
  })

  it('nothing is kept: neither the executor nor what was seen of it', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const server = await serveXStateInspect()
    const watchOne = async () => {
      const read = heldTool('Read', { safe: true })
      const { executor, add } = heldTurn([read.tool])
      const leave = server.add(executor)
      const client = await rawClient(server.server)
      client.socket.send(inspecting)
      add('a', 'Read')
      await settled()
      read.run('a').finish()
      await settled()
      expect([...executor.getCompletedResults()]).toHaveLength(1)
      await client.until(() => client.texts.some((text) => text.includes('service.stop')))
      leave()
      client.socket.close()
      await client.closed
      return new WeakRef(executor)
    }
    const gone = await watchOne()
    await expect.poll(() => (gc(), gone.deref())).toBeUndefined()
    await server.close()
  })
})
