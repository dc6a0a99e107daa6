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
      for (const session of page) pipeline.hgetall(database.key(session)).get(database.key(session, 'alive'))
      return pipeline.exec()
    })
    for (let place = 0; place < page.length; place++) {
      const [error, kept] = replies?.[2 * place] ?? []
      const fields = (kept ?? {}) as Record<string, string>
      // it was removed meanwhile
      if (error == null && fields.records === undefined) continue
      const summary = error ?? summaryIn(fields, replies?.[2 * place + 1]?.[1])
      if (summary instanceof Error) onDamaged(new Error(`${database.key(page[place] ?? '')}: ${summary.message}`))
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

function summaryIn(fields: Record<string, string>, alive: unknown): SessionSummary | Error {
  try {
    return summaryOf(fields, alive)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function summaryOf(fields: Record<string, string>, alive: unknown): SessionSummary {
  const text = (name: string): string => fields[name] ?? ''
  const isOwned = text('token') !== '' && alive === fields.token
  const questions: [string, string][] = JSON.parse(text('questions'))
  const state: SessionState = { status: text('status') as SessionState['status'], questions: new Map(questions) }
  return {
    id: JSON.parse(text('name')),
    status: statusOf(state, isOwned),
    records: Number(text('records')),
    createdAt: Number(text('createdAt')),
    updatedAt: Number(text('updatedAt')),
    questions: questions.map(([id]) => id),
    ...(text('outer') !== '' && { outer: JSON.parse(text('outer')) }),
    ...(isOwned && { owner: JSON.parse(text('owner')) }),
  }
}
