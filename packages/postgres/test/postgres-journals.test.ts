import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresJournals } from '@signalbox/postgres'
import pg from 'pg'
import type { NewRecord } from 'signalbox/durable'
import { describeJournalStore } from 'signalbox/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sent, testOutages, textsIn } from '../../../test/support/store-outages.ts'
import { expectToSweepCopiedNotes, expectToSweepResults } from '../../../test/support/swept-results.ts'
import { ToldChild, writeProgram } from '../../../test/support/told-child.ts'
import { expectToLearnOfNextOwner } from '../../../test/support/waiting-owner.ts'
import { findPostgres, PostgresServer } from './postgres-server.ts'

const isThere = findPostgres() !== undefined
if (!isThere && process.env.CI !== 'true')
  console.warn('Tests of @signalbox/postgres are skipped: PostgreSQL was not found.')

describe.skipIf(!isThere && process.env.CI !== 'true')('in PostgreSQL', () => {
  let server: PostgresServer
  let schemas = 0
  let schema: string
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server?.end())
  beforeEach(() => {
    schema = `test_${++schemas}`
  })
  const make = (options: Partial<Parameters<typeof postgresJournals>[0]> = {}) =>
    postgresJournals({ connectionString: server.url, schema, ...options })

  describeJournalStore(
    () => {
      const stores = [make(), make()] as const
      return {
        store: stores[0],
        another: () => stores[1],
        end: async () => void (await Promise.all(stores.map((store) => store.end()))),
      }
    },
    { describe, it },
  )

  it('many processes create the tables at once; a newer version is refused', async () => {
    const stores = Array.from({ length: 6 }, () => make())
    const journals = await Promise.all(stores.map((store, n) => store.open(`s${n}`, { owner: 'me', mode: 'create' })))
    await Promise.all(journals.map((journal) => journal.close()))
    await Promise.all(stores.map((store) => store.end()))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`insert into ${schema}.migrations values (99)`)
    await client.end()
    const store = make()
    await expect(store.open('s', { owner: 'me', mode: 'either' })).rejects.toMatchObject({
      code: 'journal_newer',
      message: expect.stringContaining('version 99'),
    })
    await store.end()
  })

  it('a connection that breaks does not end the process, whatever the store is doing', async () => {
    const unheard: string[] = []
    const pool = new pg.Pool({ connectionString: server.url })
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (given: { text: string }) => unknown
      const watched = (given: { text: string }) => {
        if (client.listenerCount('error') === 0) unheard.push(given.text)
        return query(given)
      }
      Object.assign(client, { query: watched })
    })
    const store = postgresJournals({ pool, schema })
    const journal = await store.open('heard', { owner: 'me', mode: 'create' })
    journal.append({ t: 'message.sent', text: 'hello' })
    await journal.flush()
    await store.post('heard', { type: 'message', uuid: 'u1', content: 'hi' })
    await journal.close()
    for await (const _ of store.read('heard'));
    for await (const _ of store.list());
    await store.remove('heard')
    await store.end()
    await pool.end()
    expect(unheard).toEqual([])
  })

  it('sessions that open and close side by side send one statement at a time on a connection', async () => {
    const warnings: string[] = []
    const hear = ({ message }: Error) => void warnings.push(message)
    process.on('warning', hear)
    const busy = new Set<object>()
    const overlaps: string[] = []
    const pool = new pg.Pool({ connectionString: server.url })
    const connect = async () => {
      const client = await pool.connect()
      return Object.assign(Object.create(client), {
        async query(given: { text: string }) {
          if (busy.has(client)) overlaps.push(given.text)
          busy.add(client)
          try {
            return await client.query(given)
          } finally {
            busy.delete(client)
          }
        },
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const open = (n: number) => store.open(`s${n}`, { owner: 'me', mode: 'either' })
    const keep = await open(0)
    const journals = await Promise.all([1, 2, 3, 4, 5].map(open))
    await Promise.all([...journals.map((journal) => journal.close()), open(6).then((journal) => journal.close())])
    await keep.close()
    await store.end()
    await pool.end()
    process.removeListener('warning', hear)
    expect(overlaps).toEqual([])
    expect(warnings).toEqual([])
  })

  testOutages({ make, server: () => server })

  it('D19 a lost answer of the database is not taken for another owner, and nothing is written twice', async () => {
    // breaks the connection after the server has committed, before the answer arrives
    const pool = new pg.Pool({ connectionString: server.url })
    let breaks = 0
    const connect = async () => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        async query(given: { text: string }) {
          const result = await query(given)
          const isChange = /insert into .*\.(records|notes)|^commit$/s.test(given.text)
          if (!isChange || breaks++ % 2 === 1) return result
          throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' })
        },
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    expect(journal.records).toHaveLength(2)
    for (const text of [1, 2, 3]) {
      journal.append(sent(text))
      await journal.flush()
    }
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('accepted')
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('stale')
    await journal.close()
    expect(await textsIn(store)).toEqual([1, 2, 3])
    await pool.end()
  })

  it.each([
    ['waits too long for a lock', 'lock_timeout', '55P03'],
    ['takes too long', 'statement_timeout', '57014'],
  ])('D19 a statement that the database cancels because it %s is tried again', async (_, setting, code) => {
    const locker = new pg.Client({ connectionString: server.url })
    await locker.connect()
    const pool = new pg.Pool({ connectionString: server.url })
    const canceled: string[] = []
    const connect = async () => {
      const client = await pool.connect()
      await client.query(`set ${setting} = '100ms'`)
      const query = client.query.bind(client) as (given: { text: string }) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        query: (given: { text: string }) =>
          query(given).catch(async (error: pg.DatabaseError) => {
            canceled.push(String(error.code))
            await locker.query('rollback')
            throw error
          }),
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const lock = () => locker.query(`begin; select from ${schema}.sessions for update`)
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    await lock()
    journal.append(sent(1))
    await journal.flush()
    await lock()
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('accepted')
    await lock()
    const next = await store.open('s', { owner: 'next', mode: 'resume' })
    expect(canceled).toEqual([code, code, code])
    expect(await textsIn(store)).toEqual([1])
    await next.close()
    await journal.close().catch(() => undefined)
    await Promise.all([pool.end(), locker.end()])
  })

  it('D19 a server that only reads, as after a failover, is left for the one that replaced it', async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    let isReadOnly = false
    let refused = 0
    const connect = async () => {
      const client = await pool.connect()
      if (isReadOnly) await client.query('set default_transaction_read_only = on')
      const query = client.query.bind(client) as (given: { text: string }) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        query: (given: { text: string }) =>
          query(given).catch((error: unknown) => {
            isReadOnly = false
            refused++
            throw error
          }),
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    isReadOnly = true
    journal.append(sent(1))
    await journal.flush()
    isReadOnly = true
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('accepted')
    expect([refused, await textsIn(store)]).toEqual([2, [1]])
    await journal.close()
    await pool.end()
  })

  it.each([
    ['has prepared a statement for another client', (name: string) => `prepare "${name}" as select 1`],
    ['has forgotten a statement', () => 'deallocate all'],
  ])('D5 a connection of a pooler that %s: sessions go on without prepared statements', async (_, before) => {
    const pool = new pg.Pool({ connectionString: server.url })
    const refused: unknown[] = []
    let isShared = false
    const connect = async () => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (given: object | string) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        query: async (given: { text: string; name?: string }) => {
          if (isShared && given.name !== undefined) await query(before(given.name)).catch(() => undefined)
          return query(given).catch((error: pg.DatabaseError) => {
            refused.push(error.code)
            throw error
          })
        },
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const open = (id: string) => store.open(id, { owner: 'me', mode: 'create' })
    const journals = await Promise.all(['s', 'other'].map(open))
    const write = async (text: number) => {
      for (const journal of journals) journal.append(sent(text))
      await Promise.all(journals.map((journal) => journal.flush()))
    }
    // the first statement is prepared, and known to the client, in the second case
    if (before('') === 'deallocate all') await write(1)
    isShared = true
    await write(2)
    const isRefused = refused.length
    await write(3)
    expect([isRefused > 0, refused.length]).toEqual([true, isRefused])
    expect((await textsIn(store)).slice(-2)).toEqual([2, 3])
    await Promise.all(journals.map((journal) => journal.close()))
    await pool.end()
  })

  it('a store can be ended while sessions are open: its connections close, and the sessions fail', async () => {
    const store = make()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    await store.end()
    journal.append(sent('late'))
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_error' })
    await expect(journal.close()).rejects.toMatchObject({ code: 'journal_error' })
  })

  it('names of statements fit into PostgreSQL, whatever the schema is called', async () => {
    schema = `${schema}_`.padEnd(63, 'x')
    const names: string[] = []
    const pool = new pg.Pool({ connectionString: server.url })
    const connect = async () => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (given: object) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        query: (given: { name?: string }) => {
          if (given.name !== undefined) names.push(given.name)
          return query(given)
        },
      })
    }
    const store = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journal.append(sent(1))
    await journal.flush()
    journal.append({ ...sent(2), note: 'm' })
    await journal.flush()
    expect(new Set(names).size).toBe(2)
    expect(names.filter((name) => name.length > 63)).toEqual([])
    await journal.close()
    await pool.end()
  })

  it('a user without the right to create schemas uses one that an administrator has created', async () => {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`create role app login; create schema ${schema}; grant usage, create on schema ${schema} to app`)
    await admin.end()
    const store = make({ connectionString: server.url.replace('tester', 'app') })
    await (await store.open('s', { owner: 'me', mode: 'create' })).close()
    expect(await store.post('s', { type: 'message', uuid: 'm', content: 'x' })).toBe('accepted')
    await store.end()
  })

  it.each([53, 54, 63])('D6a a schema with a name of %d characters has notifications of its own', async (length) => {
    schema = `${schema}_`.padEnd(length, 'x')
    const [store, other] = [make({ rescanMs: 2 ** 31 - 1 }), make()]
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    const heard = new Promise((resolve) => journal.onNote(resolve))
    const note = { type: 'message', uuid: 'm', content: 'x' } as const
    expect(await other.post('s', note)).toBe('accepted')
    expect(await heard).toEqual(note)
    await journal.close()
    await Promise.all([store.end(), other.end()])
  })

  it('D1 an owner whose connection is lost again while it connects listens again later', async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    const other = make()
    let breaks = 0
    const connect = async () => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (given: { text: string }) => Promise<pg.QueryResult>
      const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
      return Object.assign(Object.create(client), {
        async query(given: { text: string }) {
          // the locks are taken again: one while it connects is the first to fail
          if (breaks > 0 && given.text.includes('pg_try_advisory_lock_shared') && breaks-- > 0)
            await pool.query('select pg_terminate_backend($1)', [pid])
          return query(given)
        },
      })
    }
    const store = postgresJournals({ pool: { connect, on: pool.on.bind(pool) }, schema, rescanMs: 1_000 })
    const journals = await Promise.all(['a', 'b'].map((id) => store.open(id, { owner: 'me', mode: 'create' })))
    for (const journal of journals) {
      journal.append(sent('x'))
      await journal.flush()
    }
    breaks = 1
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' limit 1`)
    await admin.end()
    const statuses = async () => {
      const found: string[] = []
      for await (const { id, status } of other.list()) found.push(`${id} ${status}`)
      return [breaks, ...found.sort()]
    }
    await expect.poll(statuses).toEqual([0, 'a running', 'b running'])
    await Promise.all(journals.map((journal) => journal.close()))
    await Promise.all([pool.end(), other.end()])
  })

  it('D1 an owner whose connection is gone is lost, until it listens again', async () => {
    const [patient, store, other] = [make({ rescanMs: 1_000_000 }), make(), make()]
    const journals = [
      await patient.open('patient', { owner: 'me', mode: 'create' }),
      await store.open('s', { owner: 'me', mode: 'create' }),
    ]
    for (const journal of journals) {
      journal.append(sent('x'))
      await journal.flush()
    }
    const statuses = async () => {
      const found: string[] = []
      for await (const { id, status } of other.list()) found.push(`${id} ${status}`)
      return found.sort()
    }
    expect(await statuses()).toEqual(['patient running', 's running'])
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()')
    await client.end()
    // the second owner finds out by itself; the first one would look much later
    await expect.poll(statuses).toEqual(['patient lost', 's running'])
    await Promise.all(journals.map((journal) => journal.close()))
    expect(await statuses()).toEqual(['patient lost', 's lost'])
    await Promise.all([patient.end(), store.end(), other.end()])
  })

  it('D10 D19 an owner that only waits learns that another one has its session', async () => {
    const [first, next] = [make({ rescanMs: 1_000 }), make()]
    await expectToLearnOfNextOwner(first, next)
    await Promise.all([first.end(), next.end()])
  })

  it('D10 an owner that is stopped while another takes its session can no longer write; nothing is lost or mixed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-program-'))
    const store = 'postgresJournals({ connectionString: process.argv[2], schema: process.argv[3] })'
    const program = await writeProgram(home, 'packages/postgres/src/index.ts', 'postgresJournals', store)
    const [first, second] = [new ToldChild(program, server.url, schema), new ToldChild(program, server.url, schema)]
    try {
      expect(await first.tell('open', 'first')).toBe('done')
      const fenced = first.tell('flood')
      await first.until(() => first.flushed >= 20)
      first.process.kill('SIGSTOP')
      expect(await second.tell('open', 'second')).toBe('done')
      expect(await second.tell('write', 'mine')).toBe('done')
      first.process.kill('SIGCONT')
      expect(await fenced).toBe('session_fenced')
      expect(await second.tell('write', 'still mine')).toBe('done')
      const reader = make()
      const texts = await textsIn(reader)
      await reader.end()
      const flood = texts.slice(0, -2)
      expect(flood.length).toBeGreaterThan(first.flushed)
      expect([flood, texts.slice(-2)]).toEqual([[...flood.keys()], ['mine', 'still mine']])
      await second.kill()
      const next = make()
      const opened = await next.open('s', { owner: 'third', mode: 'resume' })
      expect(opened.records.filter(({ t }) => t === 'session.opened').map(({ owner }) => owner)).toEqual([
        'first',
        'second',
        'third',
      ])
      await opened.close()
      await next.end()
    } finally {
      await Promise.all([first.kill(), second.kill()])
      await rm(home, { recursive: true })
    }
  })

  it('D10 a process that is stopped while it opens a session does not keep others from it', async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    pool.on('error', () => undefined)
    let stop = (): void => undefined
    const isStopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    const connect = async () => {
      const client = await pool.connect()
      client.on('error', () => undefined)
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>
      return Object.assign(Object.create(client), {
        async query(given: { text: string }) {
          const result = await query(given)
          if (!given.text.includes('for update')) return result
          stop()
          return new Promise<never>(() => undefined)
        },
      })
    }
    const next = make()
    await (await next.open('s', { owner: 'before', mode: 'create' })).close()
    const first = postgresJournals({ pool: { connect, on: () => undefined }, schema })
    void first.open('s', { owner: 'first', mode: 'resume' })
    await isStopped
    const journal = await next.open('s', { owner: 'next', mode: 'resume' })
    expect(journal.records.filter(({ t }) => t === 'session.opened').map(({ owner }) => owner)).toEqual([
      'before',
      'next',
    ])
    await journal.close()
    await next.end()
  })

  it('D8 a session that is removed takes along its records and those of its agents, one that is just being written too', async () => {
    const store = make()
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const records = async () => Number((await client.query(`select count(*) from ${schema}.records`)).rows[0].count)
    const outer = await store.open('s', { owner: 'me', mode: 'create' })
    const inner = await store.open('s/r/c', { owner: 'me', mode: 'create', created: { outer: 's' } })
    for (const journal of [outer, inner]) {
      journal.append(sent('x'))
      await journal.flush()
    }
    expect(await records()).toBe(6)
    // as a commit that has not ended yet
    await client.query(`begin; update ${schema}.sessions set records = 4 where outer_session is null;
      insert into ${schema}.records select session, 3, 0, '{}' from ${schema}.sessions where outer_session is null`)
    const removed = store.remove('s')
    const waits = async () =>
      Number((await client.query('select count(*) from pg_locks where not granted')).rows[0].count)
    await expect.poll(waits).toBe(1)
    await client.query('commit')
    await removed
    expect(await records()).toBe(0)
    await Promise.allSettled([outer.close(), inner.close()])
    await client.end()
    await store.end()
  })

  it('D25 sweeps idle sessions, by the clock of the database, and never others', async () => {
    const store = make()
    const write = async (id: string, ...types: string[]) => {
      const journal = await store.open(id, { owner: 'me', mode: 'create' })
      for (const t of types) journal.append({ t, note: id === 'read' ? 'm' : undefined } as NewRecord)
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
    await store.end()
  })

  it('D25 sweeps after 30 days, unless told otherwise', async () => {
    const store = make()
    for (const id of ['29 days', '31 days', '31 days, then a run']) {
      const journal = await store.open(id, { owner: 'me', mode: 'create' })
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      await client.query(`update ${schema}.sessions set touched = now() - $1::interval where name = $2`, [
        id.slice(0, 7),
        JSON.stringify(id),
      ])
      await client.end()
      if (id.endsWith('run')) for (const t of ['message.sent', 'run.ended']) journal.append({ t })
      await journal.close()
    }
    expect(await store.sweep()).toEqual(['31 days'])
    expect(await store.sweep({ maxAgeMs: 28 * 24 * 60 * 60 * 1_000 })).toEqual(['29 days'])
    await store.end()
  })

  it('D25 a note that was copied keeps no session', async () => {
    const store = make()
    await expectToSweepCopiedNotes(store)
    await store.end()
  })

  it('D5 D25 stored results are kept and removed with the sessions that refer to them', async () => {
    let store: ReturnType<typeof make> | undefined
    await expectToSweepResults((results) => {
      store = make({ results })
      return store
    }).finally(() => store?.end())
  })

  it.each([
    [{}, /either pool or connectionString/],
    [{ connectionString: 'x', url: 'x' }, /Unknown option url/],
    [{ connectionString: 'x', schema: 'a; drop table b' }, /schema/],
    [{ connectionString: 'x', retryMs: -1 }, /retryMs/],
    [{ connectionString: 'x', retryMs: '5' }, /retryMs.*received "5"/],
    [{ connectionString: 'x', rescanMs: 5 }, /rescanMs/],
    [
      { connectionString: 'x', rescanMs: Number.POSITIVE_INFINITY },
      /rescanMs.*from 1000 to 2147483647, received Infinity/,
    ],
    [{ connectionString: '' }, /connectionString: expected the address of a database/],
    [{ pool: { connect() {}, on() {}, options: { max: 1 } } }, /at least 2 connections/],
  ])('refuses %j', (options, problem) => {
    expect(() => postgresJournals(options as never)).toThrow(problem)
  })
})
