import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { JournalStore, NewRecord } from 'signalbox/durable'
import { type FileResultStore, fileResultStore } from 'signalbox/node'
import { expect } from 'vitest'

type Sweeping = JournalStore & { sweep(options?: { maxAgeMs?: number }): Promise<string[]> }

/** Rule D25 of a store that many machines share: results go with the last session that refers to them. */
export async function expectToSweepResults(makeStore: (results: FileResultStore) => Sweeping): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-results-'))
  try {
    const results = fileResultStore({ folder, maxAgeMs: 1_000 })
    const store = makeStore(results)
    const save = async (text: string) => (await results.save({ toolUseID: text, toolName: 'T', text })).path
    const write = async (id: string, created: object, ...records: NewRecord[]) => {
      const journal = await store.open(id, { owner: 'me', mode: 'create', created: { ...created } })
      for (const record of records) journal.append(record)
      await journal.close()
    }
    const left = async () => (await readdir(folder)).sort()
    const named = (...paths: string[]) => paths.map((path) => basename(path)).sort()
    const [shared, own, inner, removed, free] = (await Promise.all(
      ['shared', 'own', 'inner', 'removed', 'free'].map(save),
    )) as [string, string, string, string, string]
    await write('idle', {}, { t: 'agent.started', optional: true, session: 'idle/r/c' })
    await write('idle/r/c', { outer: 'idle' }, { t: 'call.completed', path: inner })
    const again = await store.open('idle', { owner: 'me', mode: 'resume' })
    for (const content of [`kept at ${own}`, shared]) again.append({ t: 'message.sent', content })
    again.append({ t: 'run.ended' })
    await again.close()
    await write('suspended', {}, { t: 'message.sent', shared }, { t: 'run.suspended' })
    // idle, but not by itself
    await write('suspended/r/c', { outer: 'suspended' })
    await write('removed', {}, { t: 'message.sent', removed }, { t: 'run.suspended' })
    expect(await store.sweep()).toEqual([])
    // old results that no session refers to go by themselves
    for (const path of [shared, own, inner, removed, free]) await utimes(path, 1, 1)
    expect(await results.sweep()).toBe(1)
    expect(await left()).toEqual(named(shared, own, inner, removed))
    expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['idle'])
    expect(await left()).toEqual(named(shared, removed))
    expect((await ids(store)).sort()).toEqual(['removed', 'suspended', 'suspended/r/c'])
    await store.remove('removed')
    expect(await left()).toEqual(named(shared))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function ids(store: JournalStore): Promise<string[]> {
  const found: string[] = []
  for await (const { id } of store.list()) found.push(id)
  return found
}

/** Rule D25: a note that a record has copied keeps nobody from sweeping its session. */
export async function expectToSweepCopiedNotes(store: Sweeping): Promise<void> {
  await (await store.open('s', { owner: 'me', mode: 'create' })).close()
  await store.post('s', { type: 'message', uuid: 'm', content: 'x' })
  expect(await store.sweep({ maxAgeMs: 0 })).toEqual([])
  const journal = await store.open('s', { owner: 'me', mode: 'resume' })
  journal.append({ t: 'message.sent', note: 'm' })
  journal.append({ t: 'run.ended' })
  await journal.close()
  expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['s'])
}
