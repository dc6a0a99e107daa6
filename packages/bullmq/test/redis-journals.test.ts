import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EngineWarning, redisJournals } from '@signalbox/bullmq'
import type { JournalStore } from 'signalbox/durable'
import { describeJournalStore } from 'signalbox/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runKilled, writeLife } from '../../../test/support/kill-campaign.ts'
import { sent, testOutages, textsIn } from '../../../test/support/store-outages.ts'
import { expectToSweepCopiedNotes, expectToSweepResults } from '../../../test/support/swept-results.ts'
import { ToldChild, writeProgram } from '../../../test/support/told-child.ts'
import { expectToLearnOfNextOwner } from '../../../test/support/waiting-owner.ts'
import { DroppingProxy } from './dropping-proxy.ts'
import { findRedis, RedisServer } from './redis-server.ts'

const isThere = findRedis() !== undefined
const { SIGNALBOX_FULL, SIGNALBOX_KILLS, SIGNALBOX_SEED = '1' } = process.env
const wantedKills = Number(SIGNALBOX_KILLS ?? (SIGNALBOX_FULL === undefined ? 2 : 2_000))

const statusesIn = async (store: JournalStore): Promise<string[]> => {
  const found: string[] = []
  for await (const { id, status, owner } of store.list()) found.push(`${id} ${status} ${owner ?? 'nobody'}`)
  return found.sort()
}

describe.skipIf(!isThere && process.env.CI !== 'true')('sessions in Redis', () => {
  let server: RedisServer
  let prefixes = 0
  let prefix: string
  const stores: ReturnType<typeof redisJournals>[] = []
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server?.end())
  beforeEach(() => {
    prefix = `test_${++prefixes}`
  })
  afterEach(async () => void (await Promise.all(stores.splice(0).map((store) => store.end()))))
  const make = (options: Partial<Parameters<typeof redisJournals>[0]> = {}) => {
    const store = redisJournals({ connection: server.url, prefix, onWarning: () => undefined, ...options })
    stores.push(store)
    return store
  }

  describeJournalStore(
    () => {
      const [store, other] = [make(), make()]
      return { store, another: () => other }
    },
    { describe, it },
  )

  testOutages({ make, server: () => server })

  it('D19 replies that are lost on the way are not taken for another owner, and nothing is written twice', async () => {
    const proxy = await DroppingProxy.to(server.url)
    const store = make({ connection: proxy.url })
    // each reply of these steps is lost once: the connection breaks behind the command
    proxy.dropReplyOf('session.opened')
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    expect(journal.records).toHaveLength(2)
    for (const text of [1, 2, 3]) {
      proxy.dropReplyOf(`"text":${text}`)
      journal.append(sent(text))
      await journal.flush()
    }
    proxy.dropReplyOf('"uuid":"m"')
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('accepted')
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('stale')
    expect(proxy.dropped).toBe(5)
    await journal.close()
    expect(await textsIn(store)).toEqual([1, 2, 3])
    await store.end()
    await proxy.end()
  })

  it('D10 records that a failover lost are noticed by the number of the next one', async () => {
    const proxy = await DroppingProxy.to(server.url)
    const replica = await RedisServer.start()
    await replica.follow(server)
    const store = make({ connection: proxy.url })
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journal.append(sent('both'))
    await journal.flush()
    await server.waitForReplica()
    await replica.lead()
    journal.append(sent('only the old one'))
    await journal.flush()
    proxy.leadTo(replica.url)
    journal.append(sent('late'))
    await expect(journal.flush()).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringMatching(/has 3 records, but Redis acknowledged 4/),
    })
    expect(await textsIn(store)).toEqual(['both'])
    await store.end()
    await proxy.end()
    await replica.end()
  })

  it('D1 an owner that says nothing for longer than its lock is lost, until it says something again', async () => {
    const [store, other] = [make({ lockMs: 300 }), make()]
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journal.append(sent('x'))
    await journal.flush()
    expect(await statusesIn(other)).toEqual(['s running me'])
    await server.ask((redis) => redis.call('CLIENT', 'PAUSE', '400', 'WRITE'))
    await expect.poll(() => statusesIn(other)).toEqual(['s lost nobody'])
    await expect.poll(() => statusesIn(other)).toEqual(['s running me'])
    await journal.close()
    expect(await statusesIn(other)).toEqual(['s lost nobody'])
  })

  it('D10 an owner that is stopped for twice its lock while another takes its session can no longer write', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-program-'))
    const store =
      'redisJournals({ connection: process.argv[2], prefix: process.argv[3], lockMs: 500, onWarning: () => undefined })'
    const program = await writeProgram(home, 'packages/bullmq/src/index.ts', 'redisJournals', store)
    const [first, second] = [new ToldChild(program, server.url, prefix), new ToldChild(program, server.url, prefix)]
    try {
      expect(await first.tell('open', 'first')).toBe('done')
      const fenced = first.tell('flood')
      await first.until(() => first.flushed >= 20)
      // an owner that writes all the time is no obstacle either
      first.process.kill('SIGSTOP')
      const reader = make()
      await expect.poll(() => statusesIn(reader), { timeout: 10_000 }).toEqual(['s lost nobody'])
      expect(await second.tell('open', 'second')).toBe('done')
      expect(await second.tell('write', 'mine')).toBe('done')
      first.process.kill('SIGCONT')
      expect(await fenced).toBe('session_fenced')
      expect(await second.tell('write', 'still mine')).toBe('done')
      const texts = await textsIn(reader)
      const flood = texts.slice(0, -2)
      expect(flood.length).toBeGreaterThan(first.flushed)
      expect([flood, texts.slice(-2)]).toEqual([[...flood.keys()], ['mine', 'still mine']])
      const taken = second.tell('flood')
      await second.until(() => second.flushed >= 20)
      const opened = await reader.open('s', { owner: 'third', mode: 'resume' })
      expect(await taken).toBe('session_fenced')
      expect(opened.records.filter(({ t }) => t === 'session.opened').map(({ owner }) => owner)).toEqual([
        'first',
        'second',
        'third',
      ])
      await opened.close()
    } finally {
      await Promise.all([first.kill(), second.kill()])
      await rm(home, { recursive: true })
    }
  })

  it('D4 D5 D6 D11 D17 kill -9: effects begin at most once, results are true, and the log folds to the transcript', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-kills-'))
    try {
      const imports = `import { redisJournals } from '@signalbox/bullmq'
const [connection, prefix] = process.argv[2].split(' ')`
      const store = 'redisJournals({ connection, prefix, onWarning: () => undefined })'
      const program = await writeLife(home, imports, store)
      const campaign = { program, place: `${server.url} kills`, home, store: make({ prefix: 'kills' }) }
      const kills = await runKilled({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted: wantedKills })
      expect(kills).toBeGreaterThanOrEqual(wantedKills)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })

  it('D25 sweeps idle sessions, by the clock of Redis, and never others', async () => {
    const store = make()
    const write = async (id: string, ...types: string[]) => {
      const journal = await store.open(id, { owner: 'me', mode: 'create' })
      for (const t of types) journal.append({ t })
      if (id !== 'open') await journal.close()
      return journal
    }
    await write('idle', 'message.sent', 'run.ended')
    await write('lost', 'message.sent')
    await write('suspended', 'message.sent', 'run.suspended')
    await write('mail')
    await store.post('mail', { type: 'message', uuid: 'm', content: 'x' })
    const open = await write('open')
    expect(await store.sweep()).toEqual([])
    expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['idle'])
    await open.close()
    expect(await store.sweep({ maxAgeMs: 0 })).toEqual(['open'])
    await expect(store.sweep({ maxAgeMs: -1 })).rejects.toThrow(/maxAgeMs/)
  })

  it('D25 sweeps after 30 days, unless told otherwise', async () => {
    const store = make()
    for (const id of ['29 days', '31 days', '31 days, then a run']) {
      const journal = await store.open(id, { owner: 'me', mode: 'create' })
      await server.ask(async (redis) => {
        const [now] = await redis.time()
        const session = `${prefix}:session:${createHash('sha256').update(id).digest('hex')}`
        await redis.hset(session, 'touched', Number(now) - Number.parseInt(id, 10) * 24 * 60 * 60)
      })
      if (id.endsWith('run')) for (const t of ['message.sent', 'run.ended']) journal.append({ t })
      await journal.close()
    }
    expect(await store.sweep()).toEqual(['31 days'])
    expect(await store.sweep({ maxAgeMs: 28 * 24 * 60 * 60 * 1_000 })).toEqual(['29 days'])
  })

  it('D25 a note that was copied keeps no session', () => expectToSweepCopiedNotes(make()))

  it('D5 D25 stored results are kept and removed with the sessions that refer to them', () =>
    expectToSweepResults((results) => make({ results })))

  it('D8 while a run goes on, a commit changes the log alone; its end is kept beside the log too', async () => {
    const store = make()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    const kept = () =>
      server.ask(async (redis) => {
        const [session = ''] = (await redis.keys(`${prefix}:session:*`)).filter((key) => !key.endsWith(':log'))
        return redis.hgetall(session.replace(/:alive$/, ''))
      })
    journal.append(sent(1))
    await journal.flush()
    const running = await kept()
    journal.append({ t: 'reply.started', reply: 'r', took: [] })
    await journal.flush()
    expect(await kept()).toEqual(running)
    for await (const summary of store.list()) expect(summary).toMatchObject({ status: 'running', records: 4 })
    journal.append({ t: 'run.ended', reason: 'completed', took: [], messages: [] })
    await journal.close()
    expect(await kept()).toMatchObject({ status: 'idle' })
  })

  it('D9 a log from which somebody has removed records is damaged, and nothing is written', async () => {
    const store = make()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    for (const text of [1, 2, 3]) journal.append(sent(text))
    await journal.close()
    await server.ask(async (redis) => {
      const [log] = await redis.keys(`${prefix}:*:log`)
      await redis.xdel(log ?? '', '4-0')
    })
    await expect(store.open('s', { owner: 'me', mode: 'resume' })).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('record 3'),
    })
    expect((await statusesIn(store))[0]).toBe('s lost nobody')
  })

  it('D9 D22 bad values in the keys of a session: an error with the record, nothing written, and other sessions go on', async () => {
    const warnings: EngineWarning[] = []
    const store = make({ onWarning: (warning) => void warnings.push(warning) })
    for (const id of ['text', 'newer', 'type', 'entry', 'sound']) {
      const journal = await store.open(id, { owner: 'me', mode: 'create' })
      journal.append(sent(1))
      await journal.close()
    }
    const keyOf = (id: string) => `${prefix}:session:${createHash('sha256').update(id).digest('hex')}`
    const lengths = () =>
      server.ask((redis) => Promise.all(['text', 'newer'].map((id) => redis.xlen(`${keyOf(id)}:log`))))
    await server.ask(async (redis) => {
      for (const [id, body] of [
        ['text', '{"t":"message.sent",'],
        ['newer', '{"t":"from.the.future"}'],
      ] as const) {
        await redis.xadd(`${keyOf(id)}:log`, '4-0', 'at', '0', 'body', body)
      }
      await redis.del(`${keyOf('type')}:log`)
      await redis.set(`${keyOf('type')}:log`, 'no stream')
      await redis.hset(keyOf('entry'), 'questions', 'no JSON')
    })
    const before = await lengths()
    const opened = (id: string) => store.open(id, { owner: 'me', mode: 'resume' })
    await expect(opened('text')).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringMatching(/record 3/),
    })
    await expect(opened('newer')).rejects.toMatchObject({ code: 'journal_newer' })
    await expect(opened('type')).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringMatching(/WRONGTYPE/),
    })
    expect(await lengths()).toEqual(before)
    const listed = (await statusesIn(store)).map((line) => line.split(' ')[0]).sort()
    expect(listed).toEqual(['newer', 'sound', 'text'])
    expect(warnings.map(({ code, message }) => `${code} ${message}`).sort()).toEqual([
      expect.stringMatching(/engine_error The entry of a session is damaged.*WRONGTYPE/),
      expect.stringMatching(/engine_error The entry of a session is damaged.*no JSON/),
    ])
    await (await opened('sound')).close()
  })

  it('D10 D23 two owners that open one session again and again, and large records: no record is lost or written twice', async () => {
    const stores = [make(), make()]
    const text = 'x'.repeat(200_000)
    const written: string[] = []
    const rounds = SIGNALBOX_FULL === undefined ? 6 : 100
    const write = async (store: JournalStore, who: number) => {
      for (let round = 0; round < rounds; round++) {
        const name = `${who}-${round}`
        try {
          const journal = await store.open('s', { owner: name, mode: 'either' })
          journal.append(sent(`${name} ${text}`))
          await journal.flush()
          written.push(name)
          await journal.close()
        } catch (error) {
          expect(error).toMatchObject({ code: 'session_fenced' })
        }
      }
    }
    await Promise.all(stores.map(write))
    const found: string[] = []
    for await (const record of stores[0]?.read('s') ?? []) {
      if (record.t === 'message.sent') found.push(String(record.text).split(' ')[0] ?? '')
    }
    // one that was fenced while it waited for the reply may have been written
    expect(new Set(found).size).toBe(found.length)
    expect(found).toEqual(expect.arrayContaining(written))
    expect(written.length).toBeGreaterThan(0)
  })

  it('R15 says what a Redis with appendfsync everysec may lose, once and when the first session is opened', async () => {
    const careless = await RedisServer.start(['--appendonly', 'yes', '--appendfsync', 'everysec'])
    const told: EngineWarning[] = []
    const store = make({ connection: careless.url, onWarning: (warning) => void told.push(warning) })
    for (const id of ['a', 'b']) await (await store.open(id, { owner: 'me', mode: 'create' })).close()
    expect(told).toEqual([
      {
        code: 'engine_not_durable',
        message: expect.stringMatching(/records: appendfsync is everysec.*last second.*begin a second time/),
      },
    ])
    const sure: EngineWarning[] = []
    const safe = make({ onWarning: (warning) => void sure.push(warning) })
    await (await safe.open('a', { owner: 'me', mode: 'create' })).close()
    expect(sure).toEqual([])
    await store.end()
    await careless.end()
  })

  it('D10 D19 an owner that only waits learns that another one has its session', async () => {
    await expectToLearnOfNextOwner(make({ lockMs: 300 }), make())
  })

  it.each([
    [{}, /connection: expected/],
    [{ connection: 'redis://x', url: 'x' }, /Unknown option url/],
    [{ connection: 'redis://x', retryMs: -1 }, /retryMs/],
    [{ connection: 'redis://x', lockMs: 5 }, /lockMs: expected whole milliseconds, from 100 to 2147483647, received 5/],
    [{ connection: 'redis://x', lockMs: 1_500.5 }, /lockMs: expected whole milliseconds.*received 1500.5/],
  ])('refuses %j', (options, problem) => {
    expect(() => redisJournals(options as never)).toThrow(problem)
  })
})
