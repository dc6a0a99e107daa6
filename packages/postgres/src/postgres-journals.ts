import { randomUUID } from 'node:crypto'
import pg from 'pg'
import {
  checkId,
  checkNote,
  checkOpening,
  type Journal,
  type JournalRecord,
  type JournalStore,
  JournalWriter,
  journalError,
  keyOf,
  NoteInbox,
  type OpenJournalOptions,
  type SessionNote,
  SessionResults,
  type StoredNote,
  sessionFenced,
  sessionNotFound,
  storedRecord,
} from 'signalbox/durable'
import { Database } from './database.ts'
import { channelOf, hashOf, lockOf } from './hash-of.ts'
import { Listener } from './listener.ts'
import { checkLength, openSession, rowOf } from './open-session.ts'
import { checkOptions, type PostgresJournalsOptions } from './options.ts'
import { SessionLog, stateOf } from './session-log.ts'
import { listSessions, sweepSessions } from './stored-sessions.ts'

export interface PostgresJournals extends JournalStore {
  /** Removes sessions that have been idle for longer than `maxAgeMs` (30 days). Resolves with their ids. */
  sweep(options?: { readonly maxAgeMs?: number | undefined }): Promise<string[]>
  /** Closes the connections that the store made for `connectionString`. A pool that was passed stays open. */
  end(): Promise<void>
}

const pageSize = 1_000

/** Keeps sessions in PostgreSQL. The last process that opens a session owns it; earlier owners can no longer write. */
export function postgresJournals(options: PostgresJournalsOptions): PostgresJournals {
  checkOptions(options)
  const { connectionString, schema = 'signalbox', retryMs = 30_000, rescanMs = 2_000, limits, results } = options
  const ownPool = options.pool === undefined ? new pg.Pool({ connectionString }) : undefined
  const database = new Database(options.pool ?? (ownPool as pg.Pool), schema, retryMs)
  const channel = channelOf(schema)
  const listener = new Listener(database, `"${channel}"`, rescanMs)
  const tables = database.schema

  async function open(id: string, given: OpenJournalOptions): Promise<Journal> {
    checkOpening(id, given)
    const token = randomUUID()
    const { records, bytes, state } = await database.run((client) => openSession(client, tables, id, token, given))
    const session = hashOf(id)
    const listening = { lock: lockOf(token), look: () => void inbox.look() }
    const log = new SessionLog(database, id, token, records.length, state, async () => {
      inbox.isOver = true
      await listener.remove(session, listening)
    })
    const journal = new JournalWriter({ id, opening: token, records, bytes, sink: log, limits })
    const inbox = new NoteInbox(journal, (seen) => newNotes(id, token, seen))
    await listener.add(session, listening)
    try {
      await inbox.lookFirst()
    } catch (error) {
      await journal.close().catch(() => undefined)
      throw error
    }
    return journal
  }

  async function newNotes(id: string, token: string, seen: ReadonlySet<string>): Promise<StoredNote[]> {
    const text = `select key, body from ${tables}.sessions s left join ${tables}.notes n
      on n.session = s.session and not is_copied and not key = any($3::text[])
      where s.session = $1 and s.token = $2 order by place`
    const { rows } = await database.query(text, [hashOf(id), token, [...seen]]).catch((error: unknown) => {
      // a column or a right is missing: it would be missing next time too
      throw String(Object(error).code).startsWith('42') ? journalError(id, error) : error
    })
    if (rows.length === 0) throw sessionFenced(id)
    return rows.flatMap(({ key, body }) => (key === null ? [] : [[String(key), String(body)] as const]))
  }

  async function* read(id: string): AsyncGenerator<JournalRecord> {
    checkId(id)
    const text = `select n, at, body, s.records from ${tables}.sessions s left join ${tables}.records r
      on r.session = s.session and n >= $2 where s.session = $1 order by n limit ${pageSize}`
    for (let next = 0; ; ) {
      const { rows } = await withCode(id, database.query(text, [hashOf(id), next]))
      if (rows.length === 0) throw sessionNotFound(id)
      const found = rows.filter(({ n }) => n !== null)
      for (const row of found) yield storedRecord(id, rowOf(row), next++)
      if (rows.length < pageSize) return checkLength(id, next, rows[0]?.records)
    }
  }

  async function post(id: string, note: SessionNote): Promise<'accepted' | 'stale'> {
    checkId(id)
    checkNote(note)
    const [session, key, token] = [hashOf(id), hashOf(keyOf(note)), randomUUID()]
    const found = await database.query(`select status, questions from ${tables}.sessions where session = $1`, [session])
    const [row] = found.rows
    if (row === undefined) throw sessionNotFound(id)
    const { questions } = stateOf(row.status, row.questions)
    if (note.type === 'answer' && !questions.has(note.question)) return 'stale'
    // the notification goes out with the commit; the session may be removed at any time
    const put = `with put as (
        insert into ${tables}.notes (session, key, token, body)
        select session, $2, $3, $4 from ${tables}.sessions where session = $1 for key share
        on conflict do nothing returning session
      ) select pg_notify($5, session) from put`
    const values = [session, key, token, JSON.stringify(note), channel]
    await database.query(put, values)
    listener.hint(session)
    const kept = await database.query(`select token from ${tables}.notes where session = $1 and key = $2`, [
      session,
      key,
    ])
    if (kept.rows[0] === undefined) throw sessionNotFound(id)
    return kept.rows[0].token === token ? 'accepted' : 'stale'
  }

  const list: JournalStore['list'] = (filter) => listSessions(database, filter?.status)
  const kept = new SessionResults({ list, read }, results)

  return {
    open: (id, given) => withCode(id, open(id, given)),
    read,
    list,
    post: (id, note) => withCode(id, post(id, note)),
    async remove(id) {
      checkId(id)
      const names = await kept.namesOf(id)
      await withCode(id, database.query(`delete from ${tables}.sessions where session = $1`, [hashOf(id)]))
      await kept.removeUnused(names)
    },
    sweep: (given) => sweepSessions(database, kept, given?.maxAgeMs),
    async end() {
      listener.end()
      await ownPool?.end()
    },
  }
}

/** Converts a database error to an error with a code. */
const withCode = <T>(id: string, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw journalError(id, error)
  })
