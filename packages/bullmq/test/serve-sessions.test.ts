import { redisJournals, type SessionQueue, serveSessions, sessionQueue } from '@signalbox/bullmq'
import { postgresJournals } from '@signalbox/postgres'
import { Queue } from 'bullmq'
import { foldJournal, type JournalRecord, type JournalStore, storedQuestions } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { effectsFile } from '../../../test/remote/effects-file.ts'
import { findPostgres, PostgresServer } from '../../postgres/test/postgres-server.ts'
import { DroppingProxy } from './dropping-proxy.ts'
import type { OrchestratorArguments } from './orchestrator.ts'
import { findRedis, RedisServer } from './redis-server.ts'
import { type BuiltPrograms, buildWorker, WorkerProcess } from './worker-process.ts'

const isThere = findRedis() !== undefined
const hasPostgres = findPostgres() !== undefined
const unknown = 'It may or may not have taken effect'
const patient = { timeout: 120_000, interval: 50 }

describe.skipIf(!isThere && process.env.CI !== 'true')('sessions on several orchestrators', () => {
  let server: RedisServer
  let programs: BuiltPrograms
  let prefix: string
  let prefixes = 0
  let effects: ReturnType<typeof effectsFile>
  let journals: JournalStore
  let queue: SessionQueue
  let ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    ;[server, programs] = await Promise.all([RedisServer.start(), buildWorker()])
  })
  beforeEach(() => {
    prefix = `fleet_${++prefixes}`
    effects = effectsFile()
    use(redisJournals({ connection: server.url, prefix, onWarning: () => undefined }))
  })
  afterEach(async () => {
    for (const end of ends.reverse()) await end()
    ends = []
    effects.remove()
  })
  afterAll(async () => {
    programs?.remove()
    await server?.end()
  })

  const use = (store: JournalStore & { end(): Promise<void> }): void => {
    journals = store
    queue = sessionQueue({ connection: server.url, prefix, journals, onWarning: () => undefined })
    const ended = queue
    ends.push(() => ended.end().then(() => store.end()))
  }
  const start = async (name: string, change: Partial<OrchestratorArguments> = {}): Promise<WorkerProcess> => {
    const times = { lockMs: 1_000, checkMs: 300, ms: 5 }
    const orchestrator = new WorkerProcess(programs.orchestrator, {
      ...{ connection: server.url, prefix, name, file: effects.file, ...times },
      ...change,
    })
    ends.push(() => orchestrator.end())
    await orchestrator.ready
    return orchestrator
  }
  const recordsOf = async (id: string): Promise<JournalRecord[]> => {
    const records: JournalRecord[] = []
    for await (const record of journals.read(id)) records.push(record)
    return records
  }
  const folded = async (id: string) => foldJournal(await recordsOf(id))
  const statusOf = async (id: string): Promise<string> => {
    const { status, reason } = await folded(id)
    return `${status} ${reason ?? ''}`.trim()
  }
  const ownersOf = async (id: string) =>
    (await recordsOf(id)).flatMap(({ t, owner }) => (t === 'session.opened' ? [String(owner)] : []))
  const begun = async (key: string) => (await effects.lines()).filter((line) => line.startsWith(`began ${key} `)).length

  it('D20 onMessage gets every message of the run that a posted message begins', async () => {
    const told: string[] = []
    const served = await serveSessions({
      ...{ connection: server.url, prefix, journals, onWarning: () => undefined, handleSignals: false },
      build: () => ({ tools: [], model: scriptedModel(['hi']) }),
      onMessage: (id, { type }) => void told.push(`${id} ${type}`),
    })
    ends.push(() => served.close())
    await queue.send('told', 'hello')
    await expect.poll(() => told, patient).toEqual(['told user', 'told assistant', 'told system'])
  })

  it('D20 a posted message queues a run; several orchestrators share the sessions, and each body begins once', async () => {
    await Promise.all([start('one', { concurrency: 2 }), start('two', { concurrency: 2 })])
    const ids = Array.from({ length: 12 }, (_, n) => `s${n}`)
    await Promise.all(ids.map((id) => queue.send(id, `pay ${id}a ${id}b`)))
    for (const id of ids) await expect.poll(() => statusOf(id), patient).toBe('idle completed')
    for (const id of ids) expect([await begun(`${id}a`), await begun(`${id}b`)]).toEqual([1, 1])
    const owners = new Set((await Promise.all(ids.map(ownersOf))).flat())
    expect([...owners].sort()).toEqual(['one', 'sessionQueue', 'two'])
    expect(await queue.depth()).toEqual({ waiting: 0, running: 0 })
  })

  it('D20 messages that come while a run is active, ending or over are all taken', async () => {
    await start('one')
    await start('two')
    const uuids = Array.from({ length: 12 }, (_, n) => `m${n}`)
    for (const [n, uuid] of uuids.entries()) {
      const told = await queue.send('s', `pay k${n}`, { uuid })
      expect(told).toBe('accepted')
      if (n % 3 === 0) await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    }
    const copied = async () => (await recordsOf('s')).flatMap(({ note }) => note ?? [])
    await expect.poll(async () => [await copied(), await statusOf('s')], patient).toEqual([uuids, 'idle completed'])
    expect(await queue.send('s', 'again', { uuid: 'm3' })).toBe('stale')
  })

  it('D20 a message that comes behind the end of a run, while its job is still active, is not missed', async () => {
    const texts: string[] = []
    const late: JournalStore = {
      ...journals,
      open: async (id, options) => {
        const journal = await journals.open(id, options)
        const close = async (): Promise<void> => {
          await journal.close()
          if (texts.push('closed') === 1) await queue.send('s', 'second')
        }
        return {
          id,
          records: journal.records,
          append: journal.append.bind(journal),
          flush: journal.flush.bind(journal),
          onNote: journal.onNote.bind(journal),
          close,
        }
      },
    }
    const build = () => ({ tools: [], model: scriptedModel(['hello']) })
    const served = await serveSessions({ connection: server.url, prefix, journals: late, build, handleSignals: false })
    ends.push(() => served.close())
    await queue.send('s', 'first')
    await expect.poll(() => texts, patient).toEqual(['closed', 'closed'])
    const { transcript } = await folded('s')
    expect(transcript.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('D20 the sessions of an orchestrator that is killed are taken over; a call in mid-run is said to be unknown', async () => {
    const first = await start('first', { ms: 600_000 })
    await queue.send('s', 'pay a')
    await expect.poll(() => begun('a'), patient).toBe(1)
    await start('second')
    await first.end()
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    expect(JSON.stringify((await folded('s')).transcript)).toContain(unknown)
    expect([await begun('a'), await ownersOf('s')]).toEqual([1, ['sessionQueue', 'first', 'second']])
  })

  it.skipIf(!hasPostgres && process.env.CI !== 'true')(
    'D20 the same with journals in PostgreSQL: taken over, and no body begins twice',
    async () => {
      const database = await PostgresServer.start()
      ends.push(() => database.end())
      use(postgresJournals({ connectionString: database.url, schema: prefix }))
      const postgres = database.url
      const first = await start('first', { ms: 600_000, postgres })
      await queue.send('s', 'pay a')
      await expect.poll(() => begun('a'), patient).toBe(1)
      await start('second', { postgres })
      await first.end()
      await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
      expect([await begun('a'), await ownersOf('s')]).toEqual([1, ['sessionQueue', 'first', 'second']])
      await queue.send('s', 'pay b')
      await expect.poll(() => begun('b'), patient).toBe(1)
      await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    },
  )

  it('D10 D20 SIGSTOP for longer than the lock: another takes over, and the first writes nothing when it wakes', async () => {
    const first = await start('first', { ms: 200 })
    await queue.send('s', 'pay a b')
    await expect.poll(() => begun('a'), patient).toBe(1)
    first.process.kill('SIGSTOP')
    await start('second')
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    const before = await recordsOf('s')
    first.process.kill('SIGCONT')
    // it takes sessions again, so it has noticed
    const second = `s${Date.now()}`
    await queue.send(second, 'pay c')
    await expect.poll(() => statusOf(second), patient).toBe('idle completed')
    await expect.poll(() => queue.depth(), patient).toEqual({ waiting: 0, running: 0 })
    expect(await recordsOf('s')).toEqual(before)
    expect([await begun('a'), await begun('b')]).toEqual([1, 1])
  })

  it('D10 D15a D20 SIGSTOP of the only orchestrator: it takes its session over from itself, keeps it, and drains it', async () => {
    const only = await start('only', { ms: 3_000, drainMs: 20_000 })
    await queue.send('s', 'pay a b c d')
    await expect.poll(() => begun('a'), patient).toBe(1)
    only.process.kill('SIGSTOP')
    await expect.poll(() => server.ask((redis) => redis.keys(`${prefix}:sessions:*:lock`)), patient).toEqual([])
    only.process.kill('SIGCONT')
    await expect.poll(() => begun('c'), patient).toBe(1)
    expect(await only.end('SIGTERM')).toBe(0)
    expect([await statusOf('s'), await ownersOf('s')]).toEqual(['suspended', ['sessionQueue', 'only', 'only']])
    const did = (await effects.lines()).filter((line) => line.startsWith('did'))
    expect(did).toEqual(['did b', 'did c'])
  })

  it('D10 D20 a network that drops everything: another orchestrator takes over, and the first writes nothing when it heals', async () => {
    const proxy = await DroppingProxy.to(server.url)
    ends.unshift(() => proxy.end())
    await start('cut off', { ms: 300, connection: proxy.url })
    await queue.send('s', 'pay a b')
    await expect.poll(() => begun('a'), patient).toBe(1)
    proxy.cut()
    await start('second')
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    const before = await recordsOf('s')
    expect(JSON.stringify(before)).toContain(unknown)
    proxy.heal()
    await queue.send('t', 'pay c d')
    await expect.poll(() => statusOf('t'), patient).toBe('idle completed')
    await expect.poll(() => queue.depth(), patient).toEqual({ waiting: 0, running: 0 })
    expect(await recordsOf('s')).toEqual(before)
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(begun))).toEqual([1, 1, 1, 1])
  })

  it('D19 D20 D21 Redis is killed and starts again, with orchestrators whose clocks are an hour apart: every session ends', async () => {
    await Promise.all([start('ahead', { skewMs: 3_600_000 }), start('behind', { skewMs: -3_600_000 })])
    const ids = Array.from({ length: 6 }, (_, n) => `s${n}`)
    for (const id of ids) await queue.send(id, `pay ${id}-a ${id}-b ${id}-c`)
    await expect.poll(() => begun('s0-a'), patient).toBe(1)
    await server.crash()
    await server.run()
    for (const id of ids) await expect.poll(() => statusOf(id), patient).toBe('idle completed')
    const keys = ids.flatMap((id) => ['a', 'b', 'c'].map((call) => `${id}-${call}`))
    for (const key of keys) expect([key, await begun(key)]).toEqual([key, 1])
  })

  it('D15 D20 a session that waits for an answer costs no orchestrator; the answer queues it', async () => {
    const first = await start('first')
    await queue.send('s', 'ask a')
    await expect.poll(() => statusOf('s'), patient).toBe('suspended')
    await expect.poll(() => queue.depth(), patient).toEqual({ waiting: 0, running: 0 })
    await first.end()
    const [question] = await storedQuestions(journals, 's')
    expect(await queue.answer('s', question?.id ?? '', { behavior: 'allow' }, { by: 'ann' })).toBe('accepted')
    expect(await queue.answer('s', question?.id ?? '', { behavior: 'deny', message: 'no' })).toBe('stale')
    expect(await queue.depth()).toEqual({ waiting: 1, running: 0 })
    await start('second')
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    expect(await begun('a')).toBe(1)
  })

  it('D15a SIGTERM drains an orchestrator: its sessions are suspended, and others go on at once', async () => {
    const first = await start('first', { ms: 300, drainMs: 20_000, lockMs: 60_000 })
    await queue.send('s', 'pay a b')
    await expect.poll(() => begun('a'), patient).toBe(1)
    expect(await first.end('SIGTERM')).toBe(0)
    expect([await statusOf('s'), await queue.depth()]).toEqual(['suspended', { waiting: 1, running: 0 }])
    await start('second')
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    expect([await begun('a'), await begun('b')]).toEqual([1, 1])
    expect(JSON.stringify((await folded('s')).transcript)).not.toContain(unknown)
  })

  it('D20 a session that cannot be built is tried again, at once if something is posted, and given up with a warning', async () => {
    const warnings: string[] = []
    let builds = 0
    const served = await serveSessions({
      ...{ connection: server.url, prefix, journals, handleSignals: false, name: 'here' },
      build: (id) => {
        if (id === 'never' || (id === 'broken' && ++builds < 3)) throw new Error('no such customer')
        return { tools: [], model: scriptedModel(['hello']) }
      },
      onWarning: ({ code, message }) => void warnings.push(`${code} ${message}`),
    })
    ends.push(() => served.close())
    await queue.send('broken', 'hi')
    await queue.send('sound', 'hi')
    await expect.poll(() => statusOf('sound'), patient).toBe('idle completed')
    // a post does not wait for the pause between two attempts
    // on a busy machine the pause may be over already
    await expect.poll(() => builds, patient).toBeGreaterThan(0)
    await queue.enqueue('broken')
    await expect.poll(() => statusOf('broken'), patient).toBe('idle completed')
    expect(builds).toBe(3)
    await expect.poll(() => served.health(), patient).toEqual({ isConnected: true, isDraining: false, running: 0 })
    await journals.remove('broken')
    await queue.enqueue('broken')
    await expect.poll(() => queue.depth(), patient).toEqual({ waiting: 0, running: 0 })
    expect(warnings).toEqual([])
    await queue.send('never', 'hi')
    const post = () => queue.enqueue('never').then(() => warnings)
    const given = expect.stringMatching(/^session_failed Session never was given up.*no such customer/)
    await expect.poll(post, patient).toEqual([given])
  })

  it('D20 an orchestrator survives whatever others queue, and serves the sessions behind it', async () => {
    const built: unknown[] = []
    const warnings: string[] = []
    const served = await serveSessions({
      ...{ connection: server.url, prefix, journals, handleSignals: false, name: 'here' },
      build: (id) => {
        built.push(id)
        return { tools: [], model: scriptedModel(['hello']) }
      },
      onWarning: ({ code }) => void warnings.push(code),
    })
    ends.push(() => served.close())
    const { hostname, port } = new URL(server.url)
    const raw = new Queue('sessions', { prefix, connection: { host: hostname, port: Number(port) } })
    ends.push(() => raw.close())
    for (const data of [null, 7, {}, { id: 7 }, { id: '' }, { id: 'nobody' }]) await raw.add('run', data)
    await queue.send('s', 'hi')
    await expect.poll(() => statusOf('s'), patient).toBe('idle completed')
    await expect.poll(() => queue.depth(), patient).toEqual({ waiting: 0, running: 0 })
    expect(built.every((id) => typeof id === 'string')).toBe(true)
    expect(served.health().running).toBe(0)
    expect(warnings).toEqual(['session_failed'])
  })

  it.runIf(process.env.SIGNALBOX_FULL === '1')('D1 1,000 sessions are listed, each once', async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => `customer ${n}`)
    for (const id of ids) await queue.send(id, 'hi')
    const listed: string[] = []
    for await (const { id } of journals.list()) listed.push(id)
    expect(listed.sort()).toEqual(ids.sort())
  })

  it.runIf(process.env.SIGNALBOX_FULL === '1')(
    'D20 a session that ends its orchestrators again and again is given up, and a later one serves the others',
    async () => {
      await queue.send('deadly', 'hi')
      await queue.send('s', 'pay a')
      for (let life = 0; (await queue.depth()).waiting + (await queue.depth()).running > 0; life++) {
        const orchestrator = await start(`life ${life}`, { lockMs: 100, checkMs: 20, concurrency: 1 })
        await expect
          .poll(async () => orchestrator.isGone || (await statusOf('s')) === 'idle completed', patient)
          .toBe(true)
        if (life > 30) throw new Error('it is never given up')
      }
      expect(await statusOf('s')).toBe('idle completed')
      expect(await begun('a')).toBe(1)
    },
  )

  it.each([
    [{ build: undefined }, /build: expected a function/],
    [{ journals: {} }, /journals: expected a journal store/],
    [{ concurrency: 0 }, /concurrency/],
    [{ lockMs: -1 }, /lockMs/],
    [{ lockMs: 0 }, /lockMs: expected whole milliseconds, from 1 to 2147483647, received 0/],
    [{ lockMs: Number.POSITIVE_INFINITY }, /lockMs.*received Infinity/],
    [{ checkMs: 0.5 }, /checkMs.*received 0.5/],
    [{ drainMs: Number.NaN }, /drainMs: expected milliseconds, received NaN/],
    [{ sessions: 1 }, /Unknown option sessions/],
  ])('refuses %j', async (change, problem) => {
    const options = { connection: 'redis://x', journals, build: () => ({}) as never, ...change }
    await expect(serveSessions(options as never)).rejects.toThrow(problem)
  })
})
