import { connect as connectTcp, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type InspectorOptions, serveInspector } from '../../../src/inspect/server/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { testTurn } from '../../support/turn.ts'
import { connect, get, refusal, socketAt } from './support.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const setUp = async (options: InspectorOptions = {}) => {
  const turn = testTurn([heldTool('Read', { safe: true }).tool])
  const server = await serveInspector(turn.executor, options)
  cleanUps.push(() => server.close())
  return { ...turn, server }
}

const isCall = (id: string) => (frame: { type: string; call?: unknown }) => frame.type === 'call' && frame.call === id

describe('a browser that lost its connection', () => {
  it('resumes after the last frame it received, and misses none', async () => {
    const { add, server } = await setUp()
    add('a', 'Read')
    const first = await connect(server.url)
    await first.until((all) => all.some(isCall('a')))
    const { stream } = await first.untilMessage('hello')
    const received = [...first.frames]
    // no goodbye: a tab that was blocked, a laptop that slept
    first.socket.terminate()
    await first.closed
    add('b', 'Read')
    const after = received.at(-1)?.seq
    const second = await connect(server.url, { search: `?stream=${stream}&after=${after}` })
    expect(await second.untilMessage('hello')).toMatchObject({ stream, isResumed: true })
    await second.until((all) => all.some(isCall('b')))
    const all = [...received, ...second.frames]
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index))
  })

  it.each([
    ['of another recording', '?stream=other&after=3'],
    ['that does not exist yet', '?stream=STREAM&after=1000000'],
    ['that is no number', '?stream=STREAM&after=x'],
    ['before the first', '?stream=STREAM&after=-5'],
  ])('begins anew with a frame %s', async (_, search) => {
    const { add, server } = await setUp({ record: 'always' })
    add('a', 'Read')
    const first = await connect(server.url)
    const { stream } = await first.untilMessage('hello')
    const second = await connect(server.url, { search: search.replace('STREAM', String(stream)) })
    expect(await second.untilMessage('hello')).toMatchObject({ isResumed: false })
    await second.until((all) => all.some(isCall('a')))
    expect(second.frames[0]).toMatchObject({ seq: 0, type: 'head' })
  })

  it('can ask why: the server is full, or the token is wrong', async () => {
    const token = 'a-token-that-stays-the-same-for-ever'
    const { server } = await setUp({ maxClients: 1, token })
    expect(new URL(server.url).hash).toBe(`#token=${token}`)
    const ask = (bearer: string) => get(server.url, { path: '/state', headers: { authorization: `Bearer ${bearer}` } })
    expect((await ask(token)).status).toBe(204)
    expect((await ask('wrong')).status).toBe(401)
    await connect(server.url)
    expect((await ask(token)).status).toBe(503)
  })
})

describe('idle connections', () => {
  it('do not keep a browser out', async () => {
    const { server } = await setUp()
    const idle: Socket[] = []
    cleanUps.push(() => idle.forEach((socket) => void socket.destroy()))
    const port = Number(new URL(server.url).port)
    for (let count = 0; count < 130; count++) {
      const socket = connectTcp(port, '127.0.0.1')
      socket.on('error', () => undefined)
      idle.push(socket)
      await new Promise((resolve) => socket.once('connect', resolve))
    }
    expect((await get(server.url, { path: '/nowhere' })).status).toBe(404)
    expect(await refusal(socketAt(server.url))).toBe('open')
  })
})
