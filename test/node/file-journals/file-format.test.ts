import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Journal, type JournalStore, openSession } from 'signalbox/durable'
import { fileJournals } from 'signalbox/node'
import { scriptedModel } from 'signalbox/scripted'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'
import { version } from '../../../src/base/version.ts'
import { checkLimits } from '../../../src/journal/journal-limits.ts'
import { journalVersion } from '../../../src/journal/record-types.ts'
import { slowCrc32 } from '../../../src/node/file-journals/log-lines.ts'
import { heldTool } from '../../support/held-tool.ts'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('a journal as a file', () => {
  let folder: string
  let store: ReturnType<typeof fileJournals>
  let log: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-format-'))
    store = fileJournals({ folder })
    log = join(folder, `${sha256('s')}.jsonl`)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = async (records: readonly object[], from: JournalStore = store, id = 's'): Promise<void> => {
    const journal = await from.open(id, { owner: 'me', mode: 'either' })
    for (const record of records) journal.append({ t: 'message.sent', ...record })
    await journal.close()
  }
  const resume = (): Promise<Journal> => store.open('s', { owner: 'me', mode: 'resume' })
  const linesOf = async (): Promise<string[]> => (await readFile(log, 'utf8')).trimEnd().split('\n')
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  it('D22 has one JSON object per line, each with its number, its time and the CRC-32 of the line before', async () => {
    await write([{ text: 'héllo 🚂' }, { text: '\n\r\u2028' }])
    const lines = await linesOf()
    const records = lines.map((line) => JSON.parse(line))
    expect(records[0]).toEqual({ n: 0, at: expect.any(Number), t: 'session.created', v: 1, id: 's' })
    expect(records.map(({ n }) => n)).toEqual([0, 1, 2, 3])
    // Node's own, which early versions of Node 20 do not have
    expect(records.slice(1).map(({ c }) => c)).toEqual(lines.slice(0, -1).map((line) => crc32(line)))
    expect((await readFile(log)).at(-1)).toBe(10)
  })

  it('D22 the CRC-32 is the same in versions of Node that have none', () => {
    for (const text of ['', 'a', 'héllo 🚂', '\n', 'x'.repeat(5_000)])
      for (const data of [text, Buffer.from(text)]) expect([text, slowCrc32(data)]).toEqual([text, crc32(text)])
  })

  it('D8 short and long commits follow each other, whichever way they are written', async () => {
    const texts = [10, 65_000, 65_536, 200_000, 20].map((length, n) => String(n).repeat(length))
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    for (const text of texts) {
      journal.append({ t: 'message.sent', text })
      await journal.flush()
    }
    await journal.close()
    expect((await all(store.read('s'))).slice(2).map(({ text }) => text)).toEqual(texts)
  })

  it('D24 only this user can read the folder and the files; a folder that is too open is closed', async () => {
    await chmod(folder, 0o755)
    await write([{ big: 'x'.repeat(300_000) }])
    await store.post('s', { type: 'message', uuid: 'm', content: 'x' })
    expect(await modeOf(folder)).toBe('700')
    const names = await readdir(folder, { recursive: true })
    const modes = await Promise.all(
      names.map(async (name) => [name.split('.').at(-1), await modeOf(join(folder, name))]),
    )
    expect(modes.sort()).toEqual([
      ['blob', '600'],
      ['inbox', '700'],
      ['json', '600'],
      ['jsonl', '600'],
    ])
  })

  it('D23 a value over 256 kB is a blob beside the log; a missing or changed one is journal_corrupt', async () => {
    const big = { list: Array.from({ length: 100_000 }, (_, n) => n) }
    await write([{ big, small: 1 }])
    const [, , line] = await linesOf()
    const { blobs, small, ...others } = JSON.parse(line as string)
    expect([small, others.big, Object.keys(blobs)]).toEqual([1, undefined, ['big']])
    const blob = join(folder, `${blobs.big}.blob`)
    expect(JSON.parse(await readFile(blob, 'utf8'))).toEqual(big)
    await writeFile(blob, '{}')
    await expect(resume()).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('has changed'),
    })
    await rm(blob)
    await expect(all(store.read('s'))).rejects.toThrow('record 2')
  })

  it.each([
    ['a letter', (line: string) => line.replace('text', 'test'), 1],
    ['a bracket', (line: string) => line.slice(0, -1), 0],
    ['everything', () => '', 0],
    ['the number', (line: string) => line.replace(/"n":\d+/, '"n":7'), 0],
  ])('D9 a line in which a person changed %s is journal_corrupt with its position, and nothing is written', async (_, change, later) => {
    await write([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const lines = await linesOf()
    const edited = [...lines.slice(0, 3), change(lines[3] as string), ...lines.slice(4), ''].join('\n')
    await writeFile(log, edited)
    const position = `record ${3 + later} (byte ${[...lines.slice(0, 3), ...(later ? [change(lines[3] as string)] : []), ''].join('\n').length})`
    const damage = { code: 'journal_corrupt', message: expect.stringContaining(position) }
    await expect(resume()).rejects.toMatchObject(damage)
    await expect(all(store.read('s'))).rejects.toMatchObject(damage)
    expect(await readFile(log, 'utf8')).toBe(edited)
    expect((await readdir(folder)).sort()).toEqual([`${sha256('s')}.inbox`, `${sha256('s')}.jsonl`])
    expect(await all(store.list())).toMatchObject([{ id: 's', problem: 'journal_corrupt' }])
  })

  it.each([
    ['version', '"v":1', '"v":2'],
    ['record', 'session.opened', 'mood.changed'],
  ])('D22 a log with a newer %s is refused, and nothing is written', async (_, known, unknown) => {
    await write([])
    const [first = '', second = ''] = (await linesOf()).map((line) => line.replace(known, unknown))
    const edited = `${first}\n${second.replace(/"c":\d+/, `"c":${crc32(first)}`)}\n{"n":2,"to`
    await writeFile(log, edited)
    await expect(resume()).rejects.toMatchObject({ code: 'journal_newer' })
    await expect(all(store.read('s'))).rejects.toMatchObject({ code: 'journal_newer' })
    expect(await readFile(log, 'utf8')).toBe(edited)
    expect(await all(store.list())).toMatchObject([{ id: 's', problem: 'journal_newer' }])
  })

  it('D9 a log that a person has copied to the name of another session is refused, and nothing is written', async () => {
    await write([{ text: 'a' }])
    const copy = join(folder, `${sha256('other')}.jsonl`)
    await copyFile(log, copy)
    await expect(store.open('other', { owner: 'me', mode: 'either' })).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('it is the log of session s'),
    })
    expect(await readFile(copy)).toEqual(await readFile(log))
    expect((await all(store.read('s'))).length).toBe(3)
  })

  it('D9 a page that never reached the disk is a torn tail if it is the last line', async () => {
    await write([{ text: 'a' }])
    const whole = await readFile(log)
    await writeFile(log, Buffer.concat([whole, Buffer.alloc(500), Buffer.from('"}\n')]))
    expect((await all(store.read('s'))).length).toBe(3)
    await (await resume()).close()
    expect((await readFile(log)).subarray(0, whole.length)).toEqual(whole)
    expect((await linesOf()).length).toBe(4)
  })

  it('D9 a log that somebody removed or changed while it is open is not written', async () => {
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    await writeFile(log, 'other\n', { flag: 'a' })
    journal.append({ t: 'message.sent' })
    await expect(journal.flush()).rejects.toMatchObject({ code: 'session_fenced' })
    await journal.close().catch(() => undefined)
    await rm(log)
    const again = await store.open('s', { owner: 'me', mode: 'create' })
    await rm(log)
    again.append({ t: 'message.sent' })
    await expect(again.flush()).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringContaining('was removed'),
    })
    await again.close().catch(() => undefined)
  })

  it.each([
    [{ records: 5 }, '5 records'],
    [{ sessionBytes: 1_000 }, 'more than 1000 bytes'],
    [{ recordBytes: 300 }, 'a record of'],
  ])('D23 a session beyond %j is journal_full; what was there stays, and it can be read', async (limits, why) => {
    const limited = fileJournals({ folder, limits })
    const journal = await limited.open('s', { owner: 'me', mode: 'create' })
    for (const text of ['1', '2', '3', 'x'.repeat(1_000)]) journal.append({ t: 'message.sent', text })
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_full', message: expect.stringContaining(why) })
    await expect(journal.close()).rejects.toMatchObject({ code: 'journal_full' })
    const kept = (await all(limited.read('s'))).map(({ text }) => text)
    expect(kept).toEqual([undefined, undefined, '1', '2', '3'])
    await (await limited.open('s', { owner: 'me', mode: 'resume' })).close()
  })

  it('D23 the limits are 1 MB per record, 256 MB and 100,000 records per session', () => {
    expect(checkLimits()).toEqual({ recordBytes: 1_000_000, sessionBytes: 256_000_000, records: 100_000 })
  })

  it('D23 blobs count towards the size of a session, also after it is opened again', async () => {
    const limited = fileJournals({ folder, limits: { sessionBytes: 700_000 } })
    const big = 'x'.repeat(300_000)
    for (const _ of [1, 2]) await write([{ big }], limited)
    const journal = await limited.open('s', { owner: 'me', mode: 'resume' })
    journal.append({ t: 'message.sent', big })
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_full' })
    await journal.close().catch(() => undefined)
  })

  it('D22 a log of every version resumes, as a session', async () => {
    const released = join(import.meta.dirname, 'released')
    const names = Array.from({ length: journalVersion }, (_, version) => `version-${version + 1}.jsonl`)
    expect((await readdir(released)).sort()).toEqual(names)
    for (const name of names) {
      await copyFile(join(released, name), log)
      const before = await readFile(log)
      const tools = ['Read', 'Pay'].map((tool) => heldTool(tool).tool)
      const session = await openSession({ id: 's', journals: store, tools, model: scriptedModel(['Done.']) })
      expect([session.status, session.context.permissions?.allow]).toEqual(['suspended', ['Pay']])
      for await (const _ of session.resume());
      expect(session.result?.reason).toBe('completed')
      // a turn that was over, then one with a result of the log and a call that nobody knows the end of
      const said = JSON.stringify(session.transcript)
      for (const text of ['Pay the open invoices. ✓', 'A-1: 10 €', 'A-2: 10 €', 'It may or may not', 'Done.'])
        expect(said).toContain(text)
      await session.close()
      expect((await readFile(log)).subarray(0, before.length)).toEqual(before)
    }
  })

  it('D22 the first record of a session has its version, its id, the version that wrote it, and a hash of each schema', async () => {
    const tools = [heldTool('Pay').tool]
    const session = await openSession({ id: 's', journals: store, tools, model: scriptedModel([]) })
    await session.close()
    const [first = ''] = await linesOf()
    expect(JSON.parse(first)).toEqual({
      ...{ n: 0, at: expect.any(Number), t: 'session.created', v: 1, id: 's', messages: [] },
      ...{ signalbox: version, tools: { Pay: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    })
  })

  it('D24 environment, clients and keys are never written', async () => {
    const marks = ['env-mark', 'client-mark', 'header-mark', 'context-mark']
    vi.stubEnv('SIGNALBOX_TEST_KEY', 'env-mark')
    const script = scriptedModel([[{ call: 'Read', input: {} }], 'Done.'])
    const client = { apiKey: 'client-mark', headers: { authorization: 'header-mark' } }
    const model = Object.assign((request: Parameters<typeof script>[0]) => script(request), { client })
    const context = { client, token: 'context-mark', permissions: { allow: ['Read'] } }
    const tool = { ...heldTool('Read').tool, call: async () => ({ data: 'read' }), client }
    const session = await openSession({ id: 's', journals: store, tools: [tool], model, context, contextKeys: ['cwd'] })
    for await (const _ of session.send('go'));
    await session.close()
    vi.unstubAllEnvs()
    const written = await readFile(log, 'utf8')
    expect(written).toContain('"read"')
    expect(marks.filter((mark) => written.includes(mark))).toEqual([])
  })

  it('D24 a sealed log shows types only, and cannot be read without the seal', async () => {
    const seal = {
      encrypt: (text: string) => Buffer.from(text).toString('hex'),
      decrypt: (text: string) => Buffer.from(text, 'hex').toString(),
    }
    const sealed = fileJournals({ folder, seal })
    await write([{ text: 'secret' }, { text: 'secret'.repeat(60_000) }], sealed)
    await sealed.post('s', { type: 'message', uuid: 'm', content: 'secret' })
    for (const name of await readdir(folder, { recursive: true })) {
      if (name.endsWith('.inbox')) continue
      expect(await readFile(join(folder, name), 'utf8')).not.toContain('secret')
    }
    expect((await linesOf()).map((line) => Object.keys(JSON.parse(line)).sort().join())).toEqual([
      'at,n,sealed,t,v',
      'at,c,n,sealed,t',
      'at,c,n,sealed,t',
      'at,blobs,c,n,sealed,t',
    ])
    const unsealed = { code: 'invalid_option', message: expect.stringContaining('Pass the option seal') }
    await expect(resume()).rejects.toMatchObject(unsealed)
    await expect(all(store.list())).rejects.toMatchObject(unsealed)
    expect((await all(sealed.list())).map(({ id }) => id)).toEqual(['s'])
  })

  it('D19 a folder that cannot be listed is journal_error with its path', async () => {
    await writeFile(join(folder, 'file'), '')
    const { list, sweep } = fileJournals({ folder: join(folder, 'file') })
    const failed = { code: 'journal_error', message: expect.stringContaining(join(folder, 'file')) }
    await expect(all(list())).rejects.toMatchObject(failed)
    await expect(sweep()).rejects.toMatchObject(failed)
  })

  it('D24 list goes through redact, and the log does not', async () => {
    await write([{ text: 's is the id' }])
    const shown = fileJournals({ folder, redact: (summary) => ({ ...summary, id: 'hidden' }) })
    expect((await all(shown.list())).map(({ id }) => id)).toEqual(['hidden'])
    const [created, , sent] = await all(shown.read('s'))
    expect([created?.id, sent?.text]).toEqual(['s', 's is the id'])
  })

  it.each([
    [{}, /folder/],
    [{ folder: '/x', directory: 1 }, /Unknown option directory/],
    [{ folder: '/x', rescanMs: 10 }, /rescanMs/],
    [{ folder: '/x', limits: { megabytes: 1 } }, /limits.megabytes/],
    [{ folder: '/x', seal: {} }, /seal/],
  ])('refuses %j', (options, problem) => {
    expect(() => fileJournals(options as never)).toThrow(problem)
  })
})
