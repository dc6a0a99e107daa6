import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type InspectorOptions, type InspectorServer, serveInspector } from '../../../src/inspect/server/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { testQuery } from '../../support/query.ts'
import { flush, takeAll, testTurn } from '../../support/turn.ts'
import { connect, get, refusal, socketAt, tokenOf } from './support.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const setUp = async (options: InspectorOptions = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const turn = testTurn([read.tool])
  const server: InspectorServer = await serveInspector(turn.executor, options)
  cleanUps.push(() => server.close())
  return { ...turn, read, server }
}

const app = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-app-'))
  cleanUps.push(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>hello')
  writeFileSync(join(folder, 'assets', 'app.js'), '')
  return folder
}

describe('serveInspector', () => {
  it('shows an executor that is already running, and its further events', async () => {
    const { add, executor, read, server } = await setUp()
    add('a', 'Read')
    const { frames, until, untilMessage } = await connect(server.url)
    expect(await untilMessage('hello')).toMatchObject({ type: 'hello', source: 'live', commands: [], isResumed: false })
    await until((all) => all.some((frame) => frame.type === 'call'))
    expect(frames[0]).toMatchObject({ type: 'head', version: 1 })
    read.run('a').finish()
    await flush()
    takeAll(executor)
    await until((all) => all.some((frame) => frame.type === 'result'))
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index))
  })

  it('records nothing before the first browser connects and after the last has left', async () => {
    const { add, executor, server } = await setUp()
    const observers = () => {
      let count = 0
      const { unsubscribe } = executor.actor.system.inspect(() => count++)
      unsubscribe()
      return count
    }
    expect(observers()).toBe(0)
    const first = await connect(server.url)
    await first.untilMessage('frames')
    first.socket.close()
    await first.closed
    add('a', 'Read')
    const second = await connect(server.url)
    await second.until((all) => all.some((frame) => frame.type === 'call'))
    expect(second.frames.find((frame) => frame.type === 'run')).toMatchObject({ isLate: true })
  })

  it('with record: always, shows everything to a late browser', async () => {
    const { add, server } = await setUp({ record: 'always' })
    add('a', 'Read')
    const { frames, until } = await connect(server.url)
    await until((all) => all.some((frame) => frame.type === 'call'))
    expect(frames.find((frame) => frame.type === 'run')).toMatchObject({ isLate: false })
  })

  it('adds executors later and removes them', async () => {
    const { server } = await setUp()
    const { until, frames } = await connect(server.url)
    const leave = server.add(testTurn([]).executor, { title: 'the second' })
    await until((all) => all.some((frame) => frame.type === 'run' && frame.title === 'the second'))
    leave()
    await until((all) => all.some((frame) => frame.type === 'left'))
    expect(frames.filter((frame) => frame.type === 'run').map(({ run }) => run)).toEqual([1, 2])
  })

  it('L2 shows a query, attached late, with the executor of each of its turns', async () => {
    const read = heldTool('Read', { safe: true })
    const { held, run } = testQuery([read.tool])
    await flush()
    held.start()
    held.call('a', 'Read')
    await flush()
    const server = await serveInspector(run)
    cleanUps.push(() => server.close())
    const { until, frames } = await connect(server.url)
    await until((all) => all.some((frame) => frame.type === 'call' && frame.call === 'a'))
    held.end('tool_use')
    read.run('a').finish()
    await until((all) => all.some((frame) => frame.type === 'run' && frame.title === 'turn 2'))
    expect(frames.filter((frame) => frame.type === 'result').map(({ call, run }) => [call, run])).toEqual([['a', 1]])
    const around = frames.filter((frame) => frame.type === 'actor' && frame.chart === 'query').map((frame) => frame.run)
    expect(around).toEqual([1, 2])
    expect(frames.some((frame) => frame.type === 'step' && frame.actor.startsWith('query:'))).toBe(true)
    run.abort('over')
  })

  it('closes everything it opened', async () => {
    const { server } = await setUp()
    const { closed } = await connect(server.url)
    await server.close()
    await closed
    await expect(get(server.url)).rejects.toThrow('ECONNREFUSED')
  })

  it.each([
    ['port', { port: -1 }],
    ['record', { record: 'sometimes' as never }],
    ['commands', { commands: 'all' as never }],
    ['maxClients', { maxClients: 0 }],
    ['token', { token: 'short' }],
  ])('rejects an invalid %s', async (name, options) => {
    await expect(serveInspector([], options)).rejects.toThrow(name)
  })

  it.each([
    [null],
    ['executor'],
    [undefined],
    [{}],
    [{ actor: {} }],
  ])('rejects %j in place of an executor', async (wrong) => {
    await expect(serveInspector([wrong as never])).rejects.toThrow(
      'Expected an executor, a query or a connection to show',
    )
  })
})

describe('access', () => {
  it('listens on loopback only', async () => {
    const { server } = await setUp()
    expect(new URL(server.url).hostname).toBe('127.0.0.1')
    expect(tokenOf(server.url)).toMatch(/^[\w-]{43}$/)
  })

  it.each([
    'evil.example',
    '127.0.0.1',
    '127.0.0.1.evil.example',
    'localhost:1',
  ])('421 under the name %s', async (host) => {
    const { server } = await setUp()
    expect((await get(server.url, { headers: { host } })).status).toBe(421)
    expect(await refusal(socketAt(server.url, { host }))).toBe(421)
  })

  it.each([
    '',
    'null',
    'http://evil.example',
    'http://127.0.0.1',
    'https://localhost',
  ])('403 for a page from "%s"', async (origin) => {
    const { server } = await setUp()
    expect(await refusal(socketAt(server.url, { origin }))).toBe(403)
  })

  it.each(['', 'x', 'x'.repeat(43)])('401 with the token "%s"', async (token) => {
    const { server } = await setUp()
    expect(await refusal(socketAt(server.url, { token }))).toBe(401)
  })

  it('400 for an upgrade that is not a WebSocket', async () => {
    const { server } = await setUp()
    const { port, origin, host } = new URL(server.url)
    const answer = await new Promise<string>((resolve) => {
      const socket = connectTcp(Number(port), '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => (text += chunk))
      socket.on('close', () => resolve(text))
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      )
    })
    expect(answer).toContain('400 Bad Request')
  })

  it('503 when the maximum number of clients is connected', async () => {
    const { server } = await setUp({ maxClients: 1 })
    const first = await connect(server.url)
    expect(await refusal(socketAt(server.url))).toBe(503)
    first.socket.close()
    await first.closed
  })

  it('serves only its own files, under a policy that allows nothing else', async () => {
    const { server } = await setUp({ appFolder: app() })
    const page = await get(server.url)
    expect(page).toMatchObject({ status: 200, text: '<!doctype html>hello' })
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|\*|http|data:|blob:/)
    expect((await get(server.url, { path: '/assets/app.js' })).status).toBe(200)
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/assets/../../x', '//etc/passwd', '/nope']) {
      expect((await get(server.url, { path })).status).toBe(404)
    }
    expect((await get(server.url, { method: 'POST' })).status).toBe(405)
  })

  it('serves a recording only with the token', async () => {
    const folder = app()
    const recording = join(folder, 'recording.jsonl')
    writeFileSync(recording, 'the lines\n')
    const { server } = await setUp({ recording })
    expect((await get(server.url, { path: '/recording' })).status).toBe(401)
    const headers = { authorization: `Bearer ${tokenOf(server.url)}` }
    expect((await get(server.url, { path: '/recording', headers })).text).toBe('the lines\n')
    rmSync(recording)
    expect((await get(server.url, { path: '/recording', headers })).status).toBe(404)
  })

  it('lets a page of another origin load the recording only if the host listed it', async () => {
    const recording = join(app(), 'recording.jsonl')
    writeFileSync(recording, 'the lines\n')
    const { server } = await setUp({ recording, origins: ['http://host.test'] })
    const ask = (method: string, origin: string, more = {}) =>
      get(server.url, { path: '/recording', method, headers: { origin, ...more } })
    const asked = await ask('OPTIONS', 'http://host.test')
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, 'http://host.test'])
    expect(asked.headers['access-control-allow-headers']).toBe('authorization')
    const authorization = `Bearer ${tokenOf(server.url)}`
    const given = await ask('GET', 'http://host.test', { authorization })
    expect([given.text, given.headers['access-control-allow-origin']]).toEqual(['the lines\n', 'http://host.test'])
    expect((await ask('GET', 'http://host.test')).status).toBe(401)
    const refused = await ask('OPTIONS', 'http://other.test')
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([405, undefined])
  })
})

describe('messages from a browser', () => {
  it('1009 for a message over 64 KB, in one piece or in many', async () => {
    const { server } = await setUp()
    const one = await connect(server.url)
    one.socket.send('x'.repeat(65_537))
    expect(await one.closed).toBe(1009)
    const many = await connect(server.url)
    for (let part = 0; part < 9; part++) many.socket.send('x'.repeat(8_000), { fin: false })
    expect(await many.closed).toBe(1009)
  })

  it.each([
    ['no JSON', 'hello'],
    ['another thing', '[]'],
    ['an unknown command', '{"type":"command","id":1,"run":1,"command":"eval"}'],
    ['an acknowledgement of nothing', '{"type":"ack"}'],
  ])('1008 for %s', async (_, text) => {
    const { server } = await setUp()
    const { socket, closed } = await connect(server.url)
    socket.send(text)
    expect(await closed).toBe(1008)
  })

  it('1003 for bytes, and a pong for a ping', async () => {
    const { server } = await setUp()
    const { socket, closed } = await connect(server.url)
    const pong = new Promise((resolve) => socket.once('pong', (data) => resolve(String(data))))
    socket.ping('are you there')
    expect(await pong).toBe('are you there')
    socket.send(Buffer.from([1]))
    expect(await closed).toBe(1003)
  })

  it.each([
    ['no mask', [0x81, 0x01, 0x61]],
    ['reserved bits', [0xc1, 0x81, 0, 0, 0, 0, 0x61]],
    ['a long ping', [0x89, 0xfe, 0x00, 0x7e, 0, 0, 0, 0]],
    ['a length beyond everything', [0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['a continuation of nothing', [0x80, 0x81, 0, 0, 0, 0, 0x61]],
    ['text that is none', [0x81, 0x81, 0, 0, 0, 0, 0xff]],
  ])('ends a connection with %s', async (_, bytes) => {
    const { server } = await setUp()
    const { socket, closed } = await connect(server.url)
    ;(socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from(bytes))
    expect([1002, 1007, 1009]).toContain(await closed)
  })

  it('P6 A3 commands work if the host allowed them', async () => {
    const { server, add, executor } = await setUp({ commands: ['interrupt'] })
    add('a', 'Read')
    const { socket, untilMessage, until } = await connect(server.url)
    expect(await untilMessage('hello')).toMatchObject({ commands: ['interrupt'] })
    await until((all) => all.some((frame) => frame.type === 'can'))
    socket.send(JSON.stringify({ type: 'command', id: 7, run: 1, command: 'interrupt' }))
    expect(await untilMessage('reply')).toEqual({ type: 'reply', id: 7, problem: null })
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'interrupted' })
  })

  it('rejects commands that the host did not allow, and commands for unknown runs', async () => {
    const { server, add, executor } = await setUp({ commands: ['interrupt'] })
    add('a', 'Read')
    const first = await connect(server.url)
    first.socket.send(JSON.stringify({ type: 'command', id: 1, run: 1, command: 'discard' }))
    expect(await first.untilMessage('reply')).toMatchObject({ problem: expect.stringContaining('does not allow') })
    const second = await connect(server.url)
    second.socket.send(JSON.stringify({ type: 'command', id: 1, run: 9, command: 'interrupt' }))
    expect(await second.untilMessage('reply')).toMatchObject({ problem: expect.stringContaining('no longer live') })
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'clear' })
  })
})

describe('a browser that does not keep up', () => {
  it('gets a few batches, and the rest after its acknowledgements', async () => {
    const { server, executor } = await setUp({ record: 'always' })
    const { messages, socket, until, frames } = await connect(server.url, { acknowledges: false })
    for (let count = 0; count < 20_000; count++) executor.actor.send({ type: 'results.take' })
    executor.discard()
    await until((all) => all.length > 5_000)
    await flush()
    expect(messages.filter(({ type }) => type === 'frames').length).toBeLessThanOrEqual(4)
    socket.on('message', (data) => {
      const { type, batch } = JSON.parse(String(data))
      if (type === 'frames') socket.send(JSON.stringify({ type: 'ack', batch }))
    })
    socket.send(JSON.stringify({ type: 'ack', batch: 4 }))
    await until((all) => all.some((frame) => frame.type === 'can' && frame.commands.length === 0))
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index))
  })

  it('gets a gap and the current state when the missed frames are no longer kept', async () => {
    const { server, add, executor } = await setUp({ record: 'always', maxHistoryBytes: 4_000_000 })
    const slow = await connect(server.url, { acknowledges: false })
    const quick = await connect(server.url)
    const flood = async (): Promise<void> => {
      const target = quick.frames.length + 4_000
      // plain XState does not report guards, which are every second frame here
      const events = process.env.SIGNALBOX_ENGINE === 'xstate' ? 4_000 : 2_000
      for (let count = 0; count < events; count++) executor.actor.send({ type: 'results.take' })
      await quick.until((all) => all.length >= target)
    }
    for (let round = 0; round < 15; round++) await flood()
    add('a', 'Read')
    await quick.until((all) => all.some((frame) => frame.type === 'call'))
    slow.socket.on('message', (data) => {
      const { type, batch } = JSON.parse(String(data))
      if (type === 'frames') slow.socket.send(JSON.stringify({ type: 'ack', batch }))
    })
    slow.socket.send(JSON.stringify({ type: 'ack', batch: 4 }))
    await slow.until((all) => all.some((frame) => frame.type === 'call'))
    expect(slow.frames.find((frame) => frame.type === 'gap')).toMatchObject({ because: 'slow' })
    expect(quick.frames.filter((frame) => frame.type === 'gap')).toEqual([])
    const late = await connect(server.url)
    await late.until((all) => all.some((frame) => frame.type === 'call'))
    expect(late.frames.slice(0, 3).map(({ type }) => type)).toEqual(['head', 'gap', 'run'])
  })

  it('is dropped when it never acknowledges', async () => {
    const { server } = await setUp({ ackTimeoutMs: 1 })
    const { closed } = await connect(server.url, { acknowledges: false })
    expect(await closed).toBe(1006)
  })
})
