import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { memoryJournals, openSession } from 'signalbox/durable'
import { fileJournals } from 'signalbox/node'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, defineTool } from '../../../src/index.ts'
import { type Frame, readFrames, type StoredSessionList } from '../../../src/inspect/index.ts'
import { type InspectorOptions, serveInspector } from '../../../src/inspect/server/index.ts'
import { get, tokenOf } from './support.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-stored-'))
  cleanUps.push(() => rmSync(folder, { recursive: true }))
  return folder
}

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ sum: z.number() }),
  call: async ({ sum }) => ({ data: `paid ${sum}` }),
})

/** A session with one call: finished, or waiting for an answer. */
async function store(journals: InspectorOptions['journals'] & { open: unknown }, id: string, isAsked = false) {
  const session = await openSession({
    id,
    journals: journals as never,
    tools: [pay],
    model: scriptedModel([[{ call: 'Pay', input: { sum: 5 } }], 'Paid.']),
    canUseTool: isAsked ? () => ({ behavior: 'later' }) : allowAllTools,
    owner: `owner of ${id}`,
  })
  for await (const _ of session.send('Pay.'));
  await session.close()
}

async function serve(options: InspectorOptions) {
  const server = await serveInspector([], { viewerOnly: true, ...options })
  cleanUps.push(() => server.close())
  const headers = { authorization: `Bearer ${tokenOf(server.url)}` }
  return {
    server,
    ask: (path: string, more: Record<string, string> = headers) => get(server.url, { path, headers: more }),
    list: async () => JSON.parse((await get(server.url, { path: '/sessions', headers })).text) as StoredSessionList,
  }
}

const logOf = (folder: string, id: string): string =>
  join(folder, `${createHash('sha256').update(id).digest('hex')}.jsonl`)

const recordingOf = (id: string): string => `/session?${new URLSearchParams({ id })}`

async function framesIn(text: string): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const frame of readFrames(Readable.from([text]))) frames.push(frame)
  return frames
}

describe('stored sessions of the inspector', () => {
  it('D26 are listed with status, questions, turns, calls and last change, and open as recordings', async () => {
    const folder = newFolder()
    const journals = fileJournals({ folder })
    await store(journals, 'done')
    await store(journals, 'asks', true)
    const { ask, list } = await serve({ journals })
    const { sessions, left } = await list()
    expect(left).toBe(0)
    expect(sessions.map(({ id, status, turns, calls, questions }) => [id, status, turns, calls, questions])).toEqual([
      ['asks', 'suspended', 0, 1, 1],
      ['done', 'idle', 2, 1, 0],
    ])
    expect(sessions.every(({ updatedAt, createdAt }) => updatedAt >= createdAt && createdAt > 1e12)).toBe(true)
    const { status, headers, text } = await ask(recordingOf('done'))
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    const frames = await framesIn(text)
    expect(frames.filter(({ type }) => type === 'result').length).toBe(1)
    const open = await framesIn((await ask(recordingOf('asks'))).text)
    expect(open.findLast((frame) => frame.type === 'questions')).toMatchObject({ open: [{ name: 'Pay' }] })
  })

  it('D26 D17 agents name the session around them; a live session and a recovered one say so', async () => {
    const journals = memoryJournals()
    const agent = subAgent({ tools: [pay], model: scriptedModel([[{ call: 'Pay', input: { sum: 5 } }], 'Done.']) })
    const open = (owner: string) =>
      openSession({
        id: 'outer',
        journals,
        tools: [agent as AnyTool],
        model: scriptedModel([[{ call: 'Agent', input: { prompt: 'p' } }], 'Done.']),
        canUseTool: () => ({ behavior: 'later' }),
        context: { permissions: { allow: ['Agent'] } },
        owner,
      })
    const session = await open('first')
    for await (const _ of session.send('go'));
    const { list } = await serve({ journals })
    const inner = (await list()).sessions.find(({ outer }) => outer === 'outer')
    expect(inner).toMatchObject({ id: 'outer/msg_1/toolu_1', questions: 1, calls: 1 })
    await session.close()
    const second = await open('second')
    const outer = (await list()).sessions.find(({ id }) => id === 'outer')
    expect(outer).toMatchObject({ recovered: { from: 'first', by: 'second' }, owner: 'second', status: 'suspended' })
    await second.close()
  })

  it('D26 a broken, newer, foreign or unreadable journal is shown with its reason and does not hide the others', async () => {
    const folder = newFolder()
    const journals = fileJournals({ folder })
    for (const id of ['good', 'cut', 'edited', 'newer']) await store(journals, id)
    const lines = (id: string) => readFileSync(logOf(folder, id), 'utf8').split('\n')
    const write = (id: string, text: string) => writeFileSync(logOf(folder, id), text)
    write('edited', lines('edited').toSpliced(3, 1, '{"n":3,"t":"x"}').join('\n'))
    write('cut', lines('cut').join('\n').slice(0, -30))
    write('newer', `${lines('newer')[0]?.replace('"v":1', '"v":99')}\n`)
    const secret = join(folder, 'secret.txt')
    writeFileSync(secret, 'the password is swordfish\n')
    symlinkSync(secret, logOf(folder, 'linked'))
    symlinkSync(logOf(folder, 'loop'), logOf(folder, 'loop'))
    mkdirSync(logOf(folder, 'a folder'))
    const { ask, list } = await serve({ journals })
    const { sessions } = await list()
    const found = new Map(sessions.map((session) => [session.id, session]))
    expect(found.get('good')?.status).toBe('idle')
    // a torn tail is no damage
    expect(found.get('cut')?.problem).toBeUndefined()
    expect(found.get('edited')?.problem).toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringMatching(/^The journal of session edited is damaged at record 3/),
    })
    expect(found.get('newer')?.problem?.code).toBe('journal_newer')
    const nameless = sessions.filter(({ id }) => /^[0-9a-f]{64}$/.test(id))
    expect(nameless.map(({ status }) => status)).toEqual(['broken', 'broken', 'broken'])
    expect(JSON.stringify(sessions)).not.toContain('swordfish')
    const refused = await Promise.all(['edited', 'newer', 'linked', 'a folder'].map((id) => ask(recordingOf(id))))
    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422])
    expect(refused.map(({ text }) => text).join()).not.toContain('swordfish')
    expect(refused[0]?.text).toMatch(/^The journal of session edited is damaged/)
    expect((await ask(recordingOf('good'))).status).toBe(200)
  })

  it('D26 ids are never paths', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'outside.jsonl'), '{"n":0,"t":"session.created","v":1,"id":"outside"}\n')
    const inside = join(folder, 'inside')
    const journals = fileJournals({ folder: inside })
    await store(journals, 'good')
    const { ask } = await serve({ journals })
    const ids = [
      '../outside',
      '../outside.jsonl',
      '/etc/passwd',
      '..%2foutside',
      'good/../good',
      '\u0000',
      '.',
      'x'.repeat(999),
    ]
    const answers = await Promise.all(ids.map((id) => ask(recordingOf(id))))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 404))
    for (const path of ['/session', '/session?id=', recordingOf('x'.repeat(1_001))])
      expect((await ask(path)).status).toBe(400)
    for (const path of ['/session/../sessions', '/sessions/', '//session?id=good', '/session%2f?id=good'])
      expect((await ask(path)).status).toBe(404)
  })

  it('D26 few logs are read at once: the others wait in line, and a line that is too long is refused', async () => {
    const stored = memoryJournals()
    await store(stored, 'good')
    const gate = new AbortController()
    const opened = new Promise((resolve) => gate.signal.addEventListener('abort', resolve))
    let reading = 0
    let mostReading = 0
    const journals: NonNullable<InspectorOptions['journals']> = {
      list: () => stored.list(),
      async *read(id) {
        mostReading = Math.max(mostReading, ++reading)
        await opened
        yield* stored.read(id)
        reading--
      },
    }
    const { ask } = await serve({ journals })
    const ended: number[] = []
    const answers = Array.from({ length: 40 }, async () => ended.push((await ask(recordingOf('good'))).status))
    await vi.waitFor(() => expect(ended).toEqual([503, 503, 503, 503]), 60_000)
    gate.abort()
    await Promise.all(answers)
    expect(ended.slice(4)).toEqual(Array(36).fill(200))
    expect(mostReading).toBe(4)
  })

  it('D26 needs the token and the host name, and sends the same headers as every page', async () => {
    const journals = memoryJournals()
    await store(journals, 'good')
    const { server, ask } = await serve({ journals })
    for (const path of ['/sessions', recordingOf('good')]) {
      expect((await ask(path, {})).status).toBe(401)
      expect((await ask(path, { authorization: 'Bearer wrong' })).status).toBe(401)
      expect((await ask(path, { authorization: `Bearer ${tokenOf(server.url)}`, host: 'evil.example' })).status).toBe(
        421,
      )
      const { headers } = await ask(path)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['access-control-allow-origin']).toBeUndefined()
      const post = await get(server.url, { path, method: 'POST', headers: { authorization: 'Bearer x' } })
      expect(post.status).toBe(405)
    }
    const { ask: withoutAny } = await serve({})
    expect((await withoutAny('/sessions')).status).toBe(404)
    expect((await withoutAny(recordingOf('good'))).status).toBe(404)
  })

  it('D24 go through redact', async () => {
    const journals = memoryJournals()
    await store(journals, 'good')
    const { ask } = await serve({ journals, redact: (value, { what }) => (what === 'result' ? 'hidden' : value) })
    const { text } = await ask(recordingOf('good'))
    expect(text).not.toContain('paid 5')
    expect(text).toContain('hidden')
  })

  it('D26 a journal that is being written is shown as far as it is whole', async () => {
    const folder = newFolder()
    const journals = fileJournals({ folder })
    await store(journals, 'grows')
    const whole = readFileSync(logOf(folder, 'grows'))
    const { ask, list } = await serve({ journals })
    for (const part of [0.2, 0.5, 0.8, 1]) {
      writeFileSync(logOf(folder, 'grows'), whole.subarray(0, Math.ceil(whole.length * part)))
      const { sessions } = await list()
      expect(sessions.map(({ problem }) => problem)).toEqual([undefined])
      expect((await ask(recordingOf('grows'))).status).toBe(200)
    }
    appendFileSync(logOf(folder, 'grows'), '{"n":')
    expect((await list()).sessions[0]).toMatchObject({ status: 'idle', turns: 2 })
  })

  it('D26 a huge journal is sent as it is read, and a reader that leaves stops it', async () => {
    const journals = memoryJournals()
    const journal = await journals.open('huge', { owner: 'o', mode: 'create', created: { messages: [] } })
    const count = 2_000
    for (let n = 0; n < count; n++) {
      const message = { type: 'assistant', uuid: `b${n}`, message: { id: `r${n}`, role: 'assistant', content: [] } }
      journal.append({ t: 'reply.started', reply: `r${n}`, took: [] })
      journal.append({ t: 'reply.block', reply: `r${n}`, message })
      journal.append({ t: 'turn.committed', reply: `r${n}`, isPaused: false })
    }
    await journal.flush()
    const { server, ask, list } = await serve({ journals })
    expect((await list()).sessions[0]).toMatchObject({ turns: count, records: 3 * count + 2 })
    const leaving = new AbortController()
    const response = await fetch(`${new URL(server.url).origin}${recordingOf('huge')}`, {
      headers: { authorization: `Bearer ${tokenOf(server.url)}` },
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    // others are answered meanwhile, and nothing is left open
    expect((await ask('/state')).status).toBe(204)
    for (let round = 0; round < 6; round++) expect((await ask(recordingOf('missing'))).status).toBe(404)
  })
})
