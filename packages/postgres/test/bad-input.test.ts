import { postgresJournals } from '@signalbox/postgres'
import pg from 'pg'
import { type AnyTool, allowAllTools, defineTool } from 'signalbox'
import { openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sent, textsIn } from '../../../test/support/store-outages.ts'
import { findPostgres, PostgresServer } from './postgres-server.ts'

const isThere = findPostgres() !== undefined

describe.skipIf(!isThere && process.env.CI !== 'true')('bad input in PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Client
  let locker: pg.Client
  let schemas = 0
  let schema: string
  let store: ReturnType<typeof postgresJournals>
  beforeAll(async () => {
    server = await PostgresServer.start()
    admin = new pg.Client({ connectionString: server.url })
    // another one: within a transaction, the statements that wait are read only once
    locker = new pg.Client({ connectionString: server.url })
    await Promise.all([admin.connect(), locker.connect()])
  })
  afterAll(async () => {
    await Promise.all([admin?.end(), locker?.end()])
    await server?.end()
  })
  beforeEach(() => {
    schema = `bad_${++schemas}`
    store = postgresJournals({ connectionString: server.url, schema })
    return () => store.end()
  })

  /** The session `s` with records 0 to 5, closed. */
  async function written(): Promise<void> {
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    for (const text of [2, 3, 4, 5]) journal.append(sent(text))
    await journal.close()
  }
  const change = (text: string, ...values: unknown[]) => admin.query(text.replaceAll('$schema', schema), values)
  const rows = async (): Promise<unknown> => (await change('select n, body from $schema.records order by n')).rows
  const open = () => store.open('s', { owner: 'next', mode: 'resume' })

  it.each([
    ['a record in the middle is gone', 'delete from $schema.records where n = 3', /record 3/],
    ['the first record is gone', 'delete from $schema.records where n = 0', /record 0/],
    ['the last records are gone', 'delete from $schema.records where n > 3', /record 4.*has 6 records, but 4/],
    ['all records are gone', 'delete from $schema.records', /record 0.*has 6 records, but 0/],
    ['a record is cut off', 'update $schema.records set body = left(body, 20) where n = 4', /record 4.*not JSON/],
    ['a record is another value', `update $schema.records set body = '[5]' where n = 4`, /record 4.*no type/],
    ['a record has moved', 'update $schema.records set n = 9 where n = 4', /record 4.*found record 5/],
  ])('D9 %s: journal_corrupt with its position, and nothing is written', async (_, text, where) => {
    await written()
    await change(text)
    const before = await rows()
    const damaged = { code: 'journal_corrupt', message: expect.stringMatching(where) }
    await expect(open()).rejects.toMatchObject(damaged)
    await expect(textsIn(store)).rejects.toMatchObject(damaged)
    expect(await rows()).toEqual(before)
    // the others can still be used
    await (await store.open('other', { owner: 'me', mode: 'create' })).close()
    const ids: string[] = []
    for await (const { id } of store.list()) ids.push(id)
    expect(ids.sort()).toEqual(['other', 's'])
  })

  it('D22 a log of a newer version is refused, and nothing is written', async () => {
    await written()
    await change(`update $schema.records set body = replace(body, '"v":1', '"v":2') where n = 0`)
    const before = await rows()
    await expect(open()).rejects.toMatchObject({ code: 'journal_newer', message: expect.stringContaining('version 2') })
    expect(await rows()).toEqual(before)
  })

  it('D9 a record of more than a page is found if it is missing', async () => {
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    for (let n = 0; n < 2_100; n++) journal.append(sent(n))
    await journal.close()
    expect(await textsIn(store)).toHaveLength(2_100)
    await change('delete from $schema.records where n = 1500')
    await expect(textsIn(store)).rejects.toMatchObject({ code: 'journal_corrupt' })
  })

  it('D1 a session whose row somebody edited is listed with its problem, beside the others', async () => {
    await written()
    await (await store.open('other', { owner: 'me', mode: 'create' })).close()
    await change(`update $schema.sessions set questions = 'x' where name = '"s"'`)
    const found: unknown[] = []
    for await (const { id, problem } of store.list()) found.push([id, problem])
    expect(found.sort()).toEqual([
      ['other', undefined],
      ['s', 'journal_corrupt'],
    ])
    // the log itself is whole, and opening it writes the row anew
    await (await open()).close()
    for await (const { problem } of store.list()) expect(problem).toBeUndefined()
  })

  it.each([
    ['is cut off', '{"type":"mess'],
    ['is no note', '{"type":"answer","question":"q","answer":null}'],
  ])('D6a a note that %s is journal_corrupt: its sender was told that it is accepted', async (_, body) => {
    await written()
    await store.post('s', { type: 'message', uuid: 'm', content: 'x' })
    await change('update $schema.notes set body = $1', body)
    const journal = await open()
    journal.append(sent('more'))
    await expect(journal.flush()).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('note'),
    })
    await expect(journal.close()).rejects.toMatchObject({ code: 'journal_corrupt' })
  })

  it('D19 a table that lacks a column: the session is not opened, and the error names the column', async () => {
    await written()
    await change('alter table $schema.notes drop column is_copied')
    await expect(open()).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringContaining('is_copied'),
    })
    await change('alter table $schema.notes add column is_copied boolean not null default false')
    expect(await textsIn(store)).toEqual([2, 3, 4, 5])
  })

  it('D19 a role that may only read: reading and listing work, everything else says why', async () => {
    await written()
    await change(`create role reader_$schema login; grant usage on schema $schema to reader_$schema;
      grant select on all tables in schema $schema to reader_$schema`)
    const address = server.url.replace('tester@', `reader_${schema}@`)
    const reader = postgresJournals({ connectionString: address, schema })
    const denied = { code: 'journal_error', message: expect.stringContaining('permission denied') }
    expect(await textsIn(reader)).toEqual([2, 3, 4, 5])
    for await (const { id } of reader.list()) expect(id).toBe('s')
    await expect(reader.open('s', { owner: 'me', mode: 'either' })).rejects.toMatchObject(denied)
    await expect(reader.post('s', { type: 'message', uuid: 'm', content: 'x' })).rejects.toMatchObject(denied)
    await expect(reader.remove('s')).rejects.toMatchObject(denied)
    await reader.end()
    expect(await textsIn(store)).toEqual([2, 3, 4, 5])
  })

  it('D19 a full disk: the call does not run, the run ends journal_error, and goes on when there is space', async () => {
    let runs = 0
    const pay = defineTool({
      name: 'Pay',
      inputSchema: z.object({}),
      call: async () => ({ data: `paid ${++runs}` }),
    }) as AnyTool
    const begin = () =>
      openSession({
        id: 's',
        journals: store,
        tools: [pay],
        canUseTool: allowAllTools,
        model: scriptedModel([[{ call: 'Pay', input: {} }], 'Done.', 'Done.']),
      })
    const first = await begin()
    await change(`create function $schema.full() returns trigger language plpgsql as $$ begin
        if new.body like '%call.started%' then raise exception 'No space left on device' using errcode = '53100'; end if;
        return new; end $$;
      create trigger full_disk before insert on $schema.records for each row execute function $schema.full()`)
    first.send('pay')
    await first.whenIdle()
    expect([first.result?.reason, runs]).toEqual(['journal_error', 0])
    expect(String((first.result as { error?: unknown }).error)).toContain('No space left on device')
    await first.close()
    await change('drop trigger full_disk on $schema.records')
    const second = await begin()
    second.resume()
    await second.whenIdle()
    expect([second.result?.reason, runs]).toEqual(['completed', 1])
    await second.close()
  })

  /** Statements of others that wait for a lock. */
  const waiting = async (): Promise<number[]> => {
    const text = `select pid from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid()`
    return (await admin.query(text)).rows.map(({ pid }) => pid)
  }

  it('D19 a connection that is ended in mid-append is replaced: nothing is lost, nothing is written twice', async () => {
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    await locker.query(`begin; select from ${schema}.sessions for update`)
    journal.append(sent('x'))
    const flushed = journal.flush()
    await expect.poll(waiting).toHaveLength(1)
    const [first] = await waiting()
    await admin.query('select pg_terminate_backend($1)', [first])
    await expect.poll(async () => (await waiting()).filter((pid) => pid !== first)).toHaveLength(1)
    await locker.query('commit')
    await flushed
    await journal.close()
    expect(await textsIn(store)).toEqual(['x'])
  })

  it('D10 D19 a statement whose connection broke and that takes effect late is not taken for another owner', async () => {
    const clients: pg.PoolClient[] = []
    const pool = new pg.Pool({ connectionString: server.url })
    pool.on('acquire', (client) => clients.push(client))
    const fragile = postgresJournals({ pool, schema })
    const journal = await fragile.open('s', { owner: 'me', mode: 'create' })
    await locker.query(`begin; select from ${schema}.sessions for update`)
    journal.append(sent('x'))
    const flushed = journal.flush()
    await expect.poll(waiting).toHaveLength(1)
    const broken = clients.at(-1) as unknown as { connection: { stream: { destroy(error: Error): void } } }
    // the server does not notice before it answers
    broken.connection.stream.destroy(new Error('Connection terminated'))
    await expect.poll(waiting).toHaveLength(2)
    await locker.query('commit')
    await flushed
    journal.append(sent('y'))
    await journal.close()
    expect(await textsIn(store)).toEqual(['x', 'y'])
    // it waits for ever for the client whose socket is gone
    void pool.end()
  })
})
