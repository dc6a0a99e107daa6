import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveReceivers } from '../../../src/inspect/server/index.ts'
import { ReceiverSocket } from '../../../src/inspect/server/receiver-socket.ts'
import { get, refusal } from './support.ts'

/** The other end reads only when the test decides. */
function heldStream() {
  const taken: Buffer[] = []
  let take: (() => void) | undefined
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _, done) => {
      take = () => {
        take = undefined
        taken.push(chunk)
        done()
      }
    },
  })
  const takeAll = async () => {
    while (take !== undefined) {
      take()
      await new Promise((resolve) => process.nextTick(resolve))
    }
  }
  return { stream, taken, takeAll }
}

const setUp = (maxBytes: number) => {
  const held = heldStream()
  const seen: string[] = []
  const receiver = new ReceiverSocket(held.stream, Buffer.alloc(0), maxBytes, {
    onJoin: () => undefined,
    onMessage: () => undefined,
    onCaughtUp: () => seen.push('caught up'),
    onLeave: () => seen.push('left'),
  })
  const sent = () => Buffer.concat(held.taken).toString('latin1')
  return { ...held, receiver, seen, sent }
}

const long = (letter: string): string => letter.repeat(10_000)

describe('a receiver', () => {
  it('that keeps up gets everything', async () => {
    const { receiver, takeAll, sent, seen } = setUp(800_000)
    receiver.send(long('a'))
    receiver.send('b')
    expect(receiver.isBehind).toBe(false)
    await takeAll()
    expect(sent()).toContain(`${long('a')}\x81\x01b`)
    expect(seen).toEqual([])
  })

  it('that is behind gets only vital messages, and a notice when it has caught up', async () => {
    const { receiver, takeAll, sent, seen } = setUp(400_000)
    for (let count = 0; count < 6; count++) receiver.send(long('a'))
    expect(receiver.isBehind).toBe(true)
    receiver.send('missed')
    receiver.send('vital', { isVital: true })
    await takeAll()
    expect(sent()).toContain('vital')
    expect(sent()).not.toContain('missed')
    expect(seen).toEqual(['caught up'])
    expect(receiver.isBehind).toBe(false)
  })

  it('that missed nothing gets no notice', async () => {
    const { receiver, takeAll, seen } = setUp(400_000)
    for (let count = 0; count < 4; count++) receiver.send(long('a'))
    await takeAll()
    expect(seen).toEqual([])
  })

  it('is not behind before the stream would emit drain', async () => {
    const { receiver, takeAll, sent, seen } = setUp(8_000)
    receiver.send('a'.repeat(2_000))
    expect(receiver.isBehind).toBe(false)
    receiver.send('told')
    await takeAll()
    expect(sent()).toContain('told')
    expect(seen).toEqual([])
  })

  it('for which messages were skipped gets the notice too', async () => {
    const { receiver, takeAll, seen } = setUp(400_000)
    for (let count = 0; count < 6; count++) receiver.send(long('a'))
    receiver.miss()
    await takeAll()
    expect(seen).toEqual(['caught up'])
  })

  it('that never reads is disconnected, even for vital messages', async () => {
    const { receiver, stream, seen } = setUp(100_000)
    const closed = new Promise((resolve) => stream.once('close', resolve))
    for (let count = 0; count < 100; count++) receiver.send(long('a'), { isVital: true })
    await closed
    expect(stream.writableLength).toBeLessThan(200_000)
    expect(seen).toEqual(['left'])
  })
})

describe('the server for receivers', () => {
  const nothing = {
    onJoin: () => undefined,
    onMessage: () => undefined,
    onCaughtUp: () => undefined,
    onLeave: () => undefined,
  }

  it('serves a page only at the full address', async () => {
    const page = (address: string) => ({ html: `<p>${address}</p>`, policy: "default-src 'self'" })
    const server = await serveReceivers(nothing, { page })
    const { host, pathname } = new URL(`http://${server.address}`)
    const ask = (path: string, headers = {}, method = 'GET') => get(`http://${host}`, { path, headers, method })
    expect(await ask(pathname)).toMatchObject({ status: 200, text: `<p>${server.address}</p>` })
    expect((await ask(pathname)).headers['content-security-policy']).toBe("default-src 'self'")
    expect((await ask('/')).status).toBe(401)
    expect((await ask(`${pathname}x`)).status).toBe(401)
    expect((await ask(pathname, { host: 'evil.example' })).status).toBe(421)
    expect((await ask(pathname, {}, 'POST')).status).toBe(404)
    await server.close()
  })

  it('accepts a limited number, and closes all of them', async () => {
    const left: unknown[] = []
    const server = await serveReceivers({ ...nothing, onLeave: (each) => left.push(each) }, { maxClients: 1 })
    const socket = new WebSocket(`ws://${server.address}`)
    await new Promise((resolve) => socket.once('open', resolve))
    expect(socket.protocol).toBe('')
    expect(await refusal(new WebSocket(`ws://${server.address}`))).toBe(503)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await server.close()
    await closed
    expect(left).toHaveLength(1)
  })

  it('reports a port that is in use', async () => {
    const server = await serveReceivers(nothing)
    const port = Number(new URL(`http://${server.address}`).port)
    await expect(serveReceivers(nothing, { port })).rejects.toThrow('EADDRINUSE')
    await server.close()
  })
})
