import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { JournalStore, NewRecord } from 'signalbox/durable'
import { fileJournals, fileResultStore } from 'signalbox/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('sessions and results that are no longer needed', () => {
  let folder: string
  let store: ReturnType<typeof fileJournals>
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-sweep-'))
    store = fileJournals({ folder })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = async (records: readonly object[], from: JournalStore = store, id = 's'): Promise<void> => {
    const journal = await from.open(id, { owner: 'me', mode: 'either' })
    for (const record of records) journal.append({ t: 'message.sent', ...record })
    await journal.close()
  }

  it('D25 sweeps idle sessions with their blobs and results, and never others', async () => {
    const results = fileResultStore({ folder: join(folder, 'results') })
    const kept = fileJournals({ folder, results })
    const save = async (text: string) => (await results.save({ toolUseID: text, toolName: 'T', text })).path
    const [shared, own] = [await save('shared'), await save('own')]
    const big = 'x'.repeat(300_000)
    await write([{ t: 'message.sent' }, { big, path: `kept at ${own}` }, { shared }, { t: 'run.ended' }], kept, 'idle')
    await write([{ t: 'message.sent', shared }, { t: 'run.suspended' }], kept, 'suspended')
    await write([{ t: 'message.sent' }], kept, 'lost')
    await write([], kept, 'mail')
    await kept.post('mail', { type: 'message', uuid: 'm', content: 'waits' })
    const open = await kept.open('open', { owner: 'me', mode: 'create' })
    await writeFile(join(folder, `${sha256('damaged')}.jsonl`), '{"n":0,\n{"n":1}\n')
    expect(await kept.sweep()).toEqual([])
    expect(await kept.sweep({ maxAgeMs: 0 })).toEqual(['idle'])
    const files = await readdir(folder, { recursive: true })
    // with a damaged session around, a result may still be used
    expect(files.filter((name) => name.endsWith('.blob'))).toEqual([])
    expect(files.filter((name) => name.endsWith('.txt'))).toHaveLength(2)
    expect((await all(kept.list())).map(({ id }) => id).sort()).toEqual(
      ['lost', 'mail', 'open', 'suspended', sha256('damaged')].sort(),
    )
    await open.close()
  })

  it('D25 a sweep removes the results that only swept sessions refer to', async () => {
    const results = fileResultStore({ folder: join(folder, 'results') })
    const kept = fileJournals({ folder, results })
    const save = async (text: string) => (await results.save({ toolUseID: text, toolName: 'T', text })).path
    const [shared, own, free] = [await save('shared'), await save('own'), await save('free')]
    await write([{ t: 'message.sent' }, { content: `kept at ${own}` }, { shared }, { t: 'run.ended' }], kept, 'idle')
    await write([{ t: 'message.sent', shared }, { t: 'run.suspended' }], kept, 'suspended')
    expect(await kept.sweep({ maxAgeMs: 0 })).toEqual(['idle'])
    expect((await readdir(join(folder, 'results'))).sort()).toEqual([shared, free].map((path) => basename(path)).sort())
  })

  it('D25 sweeps after 30 days, unless told otherwise', async () => {
    const dayMs = 24 * 60 * 60 * 1_000
    for (const age of [29, 31]) {
      await write([{ t: 'run.ended' }], store, `${age} days`)
      const changed = (Date.now() - age * dayMs) / 1_000
      await utimes(join(folder, `${sha256(`${age} days`)}.jsonl`), changed, changed)
    }
    expect(await store.sweep()).toEqual(['31 days'])
    expect(await store.sweep({ maxAgeMs: 28 * dayMs })).toEqual(['29 days'])
  })

  it('D21 D25 the age of a session is told by the files, whatever the clocks of its writer and of the sweep say', async () => {
    const results = fileResultStore({ folder: join(folder, 'results') })
    const kept = fileJournals({ folder, results })
    const days = 24 * 60 * 60 * 1_000
    const real = Date.now()
    const at = async (offset: number, then: () => Promise<unknown>): Promise<unknown> => {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(real + offset * days)
      return then().finally(() => clock.mockRestore())
    }
    await at(-60, () => write([{ big: 'x'.repeat(300_000) }, { t: 'run.ended' }], kept, 'slow clock'))
    await at(60, () => write([{ t: 'run.ended' }], kept, 'fast clock'))
    const { path } = await results.save({ toolUseID: 'a', toolName: 'T', text: 'x' })
    for (const offset of [0, 60, -60]) {
      expect(await at(offset, () => kept.sweep())).toEqual([])
      expect(await at(offset, () => results.sweep())).toBe(0)
    }
    for (const id of ['slow clock', 'fast clock']) await utimes(join(folder, `${sha256(id)}.jsonl`), 1, 1)
    await utimes(path, 1, 1)
    expect(await at(-60, () => results.sweep())).toBe(1)
    expect(((await at(-60, () => kept.sweep())) as string[]).sort()).toEqual(['fast clock', 'slow clock'])
    expect(await readdir(folder)).toEqual(['results'])
  })

  it('D25 removes results with the last session that refers to them', async () => {
    const results = fileResultStore({ folder: join(folder, 'results') })
    const kept = fileJournals({ folder, results })
    const { path } = await results.save({ toolUseID: 'a', toolName: 'T', text: 'x' })
    for (const id of ['one', 'two']) await write([{ path }], kept, id)
    await kept.remove('one')
    expect(await readFile(path, 'utf8')).toBe('x')
    await kept.remove('two')
    await expect(readFile(path)).rejects.toThrow('ENOENT')
  })

  it('D17 D25 an agent is swept with the session around it, never by itself; one that is left over goes', async () => {
    const started = (id: string) => ({ t: 'agent.started', optional: true, session: id }) as const
    const make = async (id: string, outer: string | undefined, ...records: NewRecord[]) => {
      const created = outer === undefined ? {} : { outer }
      const journal = await store.open(id, { owner: 'me', mode: 'create', created })
      for (const record of records) journal.append(record)
      await journal.close()
    }
    const ended = { t: 'run.ended' }
    await make('s', undefined, { t: 'message.sent' }, started('s/r/c'))
    await make('s/r/c', 's', { t: 'message.sent' }, ended)
    await make('gone/r/c', 'gone', { t: 'message.sent' })
    // the outer session has yet to record what its agent did
    expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['gone/r/c'])
    const journal = await store.open('s', { owner: 'me', mode: 'resume' })
    journal.append(ended)
    await journal.close()
    expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['s'])
    expect(await all(store.list())).toEqual([])
  })

  it('D5 the sweep of old results keeps those of sessions', async () => {
    const results = fileResultStore({ folder: join(folder, 'results'), maxAgeMs: 1_000 })
    const kept = fileJournals({ folder, results })
    const paths = await Promise.all(
      ['used', 'unused'].map(async (text) => (await results.save({ toolUseID: 'a', toolName: 'T', text })).path),
    )
    for (const path of paths) await utimes(path, 1, 1)
    await write([{ content: [{ text: `The whole result is in ${paths[0]}.` }] }], kept)
    expect(await results.sweep()).toBe(1)
    expect(await readFile(paths[0] as string, 'utf8')).toBe('used')
  })
})
