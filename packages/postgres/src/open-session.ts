import {
  firstRecords,
  type JournalRecord,
  journalCorrupt,
  newSessionState,
  type OpenJournalOptions,
  outerIn,
  type PendingRecord,
  type SessionState,
  sessionExists,
  sessionFenced,
  sessionNotFound,
  stateAfterBodies,
  storedRecord,
} from 'signalbox/durable'
import { hashOf, lockOf } from './hash-of.ts'
import type { ClientLike } from './options.ts'
import { questionsText } from './session-log.ts'
import { transaction } from './transaction.ts'

export interface OpenedSession {
  readonly records: JournalRecord[]
  readonly bytes: number
  readonly state: SessionState
}

/** Makes this token the owner, in one transaction. The next commit of a previous owner fails. */
export function openSession(
  client: ClientLike,
  schema: string,
  id: string,
  token: string,
  given: OpenJournalOptions,
): Promise<OpenedSession> {
  const session = hashOf(id)
  const outer = outerIn(given.created)
  const query = (text: string, ...values: unknown[]) =>
    client.query({ text: text.replaceAll('$schema', schema), values })
  return transaction(client, async () => {
    if (outer !== undefined && given.within !== undefined) {
      // an owner that was replaced must not take an agent from the next one; no opening of the outer session comes between
      const around = await query('select token from $schema.sessions where session = $1 for share', hashOf(outer))
      if (around.rows[0]?.token !== given.within) throw sessionFenced(outer)
    }
    if (given.mode !== 'resume') {
      await query(
        `insert into $schema.sessions
           (session, name, outer_session, records, bytes, status, questions, created_at, updated_at)
         values ($1, $2, (select session from $schema.sessions where session = $3), 0, 0, 'idle', '[]', 0, 0)
         on conflict do nothing`,
        session,
        JSON.stringify(id),
        outer === undefined ? null : hashOf(outer),
      )
    }
    // the lock on the row makes commits and other openings wait
    const { rows } = await query(
      'select token, bytes, records from $schema.sessions where session = $1 for update',
      session,
    )
    const kept = await query('select n, at, body from $schema.records where session = $1 order by n', session)
    const bodies = kept.rows.map(({ body }) => String(body))
    const [row] = rows
    const records = kept.rows.map((each, n) => storedRecord(id, rowOf(each), n))
    checkLength(id, records.length, row?.records)
    if (records.length === 0 && given.mode === 'resume') throw sessionNotFound(id)
    // the answer to the first try was lost: the session is already open
    if (row?.token === token)
      return { records, bytes: Number(row.bytes), state: stateAfterBodies(newSessionState, bodies) }
    if (records.length > 0 && given.mode === 'create') throw sessionExists(id)
    const at = Date.now()
    const opening = firstRecords(id, given, records.length, at)
    const added = opening.map(({ body }) => body)
    const state = stateAfterBodies(newSessionState, [...bodies, ...added])
    const bytes = Number(row?.bytes) + added.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
    await query(
      `insert into $schema.records (session, n, at, body)
       select $1, new.n, $2, new.body from unnest($3::integer[], $4::text[]) as new (n, body)`,
      ...[session, at, opening.map(({ n }) => n), added],
    )
    await query(
      `update $schema.sessions set records = $2, bytes = $3, status = $4, questions = $5, owner = $6, token = $7,
       lock = $8, created_at = $9, updated_at = $10, touched = now() where session = $1`,
      ...[session, records.length + opening.length, bytes, state.status, questionsText(state)],
      ...[JSON.stringify(given.owner), token, lockOf(token), records[0]?.at ?? at, at],
    )
    const all = [...records, ...opening.map((each) => storedRecord(id, each, each.n))]
    return { records: all, bytes, state }
  })
}

/** pg returns a bigint as text. */
export const rowOf = ({ n, at, body }: Record<string, unknown>): PendingRecord => ({
  n: Number(n),
  at: Number(at),
  body: String(body),
})

/** The session has the number of its records: without it, nobody could tell that the last ones are missing. */
export function checkLength(id: string, found: number, expected: unknown): void {
  if (found !== Number(expected ?? 0))
    throw journalCorrupt(id, `record ${found}`, `the session has ${Number(expected)} records, but ${found} were found`)
}
