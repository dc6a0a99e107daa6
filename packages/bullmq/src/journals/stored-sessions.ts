import { SignalboxError } from 'signalbox'
import {
  type SessionResults,
  type SessionState,
  type SessionSummary,
  type StoredStatus,
  statusOf,
} from 'signalbox/durable'
import type { Database } from './database.ts'
import { sweepScript } from './scripts.ts'

const pageSize = 500
const month = 30 * 24 * 60 * 60 * 1_000

/** A session whose entry is damaged is reported, and does not hide the others. */
export async function* listSessions(
  database: Database,
  onDamaged: (error: Error) => void,
  wanted?: readonly StoredStatus[],
): AsyncGenerator<SessionSummary> {
  for await (const page of pages(database)) {
    const replies = await database.run((redis) => {
      const pipeline = redis.pipeline()
      for (const session of page) {
        pipeline.hgetall(database.key(session)).get(database.key(session, 'alive'))
        pipeline.xrevrange(database.key(session, 'log'), '+', '-', 'COUNT', 1)
      }
      return pipeline.exec()
    })
    for (const [place, session] of page.entries()) {
      const [entry, alive, last] = (replies ?? [])
        .slice(3 * place, 3 * place + 3)
        .map(([error, value]) => error ?? value)
      // it was removed meanwhile
      if (!(entry instanceof Error) && (entry as Fields).born === undefined) continue
      const summary = summaryIn(entry, alive, last)
      if (summary instanceof Error) onDamaged(new Error(`${database.key(session)}: ${summary.message}`))
      else if (wanted?.includes(summary.status) ?? true) yield summary
    }
  }
}

/** By the clock of Redis alone. A session with notes that nobody has copied is not idle. */
export async function sweepSessions(
  database: Database,
  results: SessionResults,
  maxAgeMs: number = month,
): Promise<string[]> {
  if (!(maxAgeMs >= 0))
    throw new SignalboxError('invalid_option', `maxAgeMs: expected milliseconds, received ${maxAgeMs}.`)
  const swept: string[] = []
  const names: string[] = []
  const age = Math.ceil(maxAgeMs / 1_000)
  for await (const page of pages(database))
    for (const session of page) {
      const args = [database.index, database.key(session), database.base, age]
      const found = await database.script(sweepScript, ...args, 'look')
      if (typeof found !== 'string') continue
      const id: string = JSON.parse(found)
      const own = await results.namesOf(id)
      // one that was opened since stays
      if (typeof (await database.script(sweepScript, ...args, 'remove')) !== 'string') continue
      swept.push(id)
      names.push(...own)
    }
  await results.removeUnused(names)
  return swept
}

async function* pages(database: Database): AsyncGenerator<string[]> {
  for (let after = '-'; ; ) {
    const page = await database.run((redis) => redis.zrangebylex(database.index, after, '+', 'LIMIT', 0, pageSize))
    yield page
    if (page.length < pageSize) return
    after = `(${page.at(-1)}`
  }
}

type Fields = Readonly<Record<string, string>>
/** An entry of the log: its place, then names and values. */
type LogEntry = readonly [place: string, fields: readonly string[]]

function summaryIn(entry: unknown, alive: unknown, last: unknown): SessionSummary | Error {
  try {
    for (const reply of [entry, last]) if (reply instanceof Error) return reply
    return summaryOf(entry as Fields, alive, (last as readonly LogEntry[])[0])
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** `last`: the last record. Its place is their number. */
function summaryOf(fields: Fields, alive: unknown, [place, [, at]]: LogEntry = ['0', []]): SessionSummary {
  const text = (name: string): string => fields[name] ?? ''
  const isOwned = text('token') !== '' && alive === fields.token
  const questions: [string, string][] = JSON.parse(text('questions'))
  const state: SessionState = { status: text('status') as SessionState['status'], questions: new Map(questions) }
  return {
    id: JSON.parse(text('name')),
    status: statusOf(state, isOwned),
    records: Number.parseInt(place, 10),
    createdAt: Number(text('createdAt')),
    updatedAt: Number(at),
    questions: questions.map(([id]) => id),
    ...(text('outer') !== '' && { outer: JSON.parse(text('outer')) }),
    ...(isOwned && { owner: JSON.parse(text('owner')) }),
  }
}
