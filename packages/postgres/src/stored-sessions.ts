import { SignalboxError } from 'signalbox'
import type { SessionResults, SessionSummary, StoredStatus } from 'signalbox/durable'
import type { Database } from './database.ts'
import { lockClass } from './listener.ts'
import { stateOf } from './session-log.ts'

const pageSize = 500
const month = 30 * 24 * 60 * 60 * 1_000

/** Whether the owner's connection holds its lock. Two keys make an advisory lock with objsubid 2. */
const isOwned = `(s.token is not null and exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and l.classid::bigint = ${lockClass} and l.objid::bigint = (s.lock::bigint & 4294967295)
))`

export async function* listSessions(
  database: Database,
  wanted?: readonly StoredStatus[],
): AsyncGenerator<SessionSummary> {
  const text = `select * from (
      select s.*, o.name as outer_name, ${isOwned} as is_owned,
        case when s.status = 'running' and not ${isOwned} then 'lost' else s.status end as told
      from ${database.schema}.sessions s left join ${database.schema}.sessions o on o.session = s.outer_session
      where s.session > $1
    ) found
    where $2::text[] is null or told = any($2::text[])
    order by session limit ${pageSize}`
  for (let after = ''; ; ) {
    const { rows } = await database.query(text, [after, wanted ?? null])
    for (const row of rows) yield summaryOf(row)
    if (rows.length < pageSize) return
    after = String(rows.at(-1)?.session)
  }
}

/** By the clock of the database alone. A session with notes that nobody has copied is not idle. */
export async function sweepSessions(
  database: Database,
  results: SessionResults,
  maxAgeMs: number = month,
): Promise<string[]> {
  if (!(maxAgeMs >= 0))
    throw new SignalboxError('invalid_option', `maxAgeMs: expected milliseconds, received ${maxAgeMs}.`)
  const { schema } = database
  const isOld = `s.outer_session is null and s.status = 'idle' and not ${isOwned}
    and s.touched < now() - $1 * interval '1 millisecond'
    and not exists (select from ${schema}.notes n where n.session = s.session and not n.is_copied)`
  const found = await database.query(`select s.session, s.name from ${schema}.sessions s where ${isOld}`, [maxAgeMs])
  const names: string[] = []
  for (const { name } of found.rows) names.push(...(await results.namesOf(JSON.parse(String(name)))))
  // one that was opened since stays
  const { rows } = await database.query(
    `delete from ${schema}.sessions s where ${isOld} and s.session = any($2::text[]) returning s.name`,
    [maxAgeMs, found.rows.map(({ session }) => session)],
  )
  await results.removeUnused(names)
  return rows.map(({ name }) => JSON.parse(String(name)))
}

function summaryOf(row: Record<string, unknown>): SessionSummary {
  const questions = questionsIn(row)
  return {
    id: JSON.parse(String(row.name)),
    status: row.told as StoredStatus,
    records: Number(row.records),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    questions: questions ?? [],
    ...(questions === undefined && { problem: 'journal_corrupt' as const }),
    ...(row.outer_name !== null && { outer: JSON.parse(String(row.outer_name)) }),
    ...(row.is_owned === true && { owner: JSON.parse(String(row.owner)) }),
  }
}

/** Undefined if somebody has edited them: the other sessions can still be listed. */
function questionsIn(row: Record<string, unknown>): string[] | undefined {
  try {
    return [...stateOf(row.status, row.questions).questions.keys()]
  } catch {
    return undefined
  }
}
