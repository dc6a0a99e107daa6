import {
  firstRecords,
  type JournalRecord,
  journalCorrupt,
  newSessionState,
  type OpenJournalOptions,
  outerIn,
  type SessionState,
  sessionExists,
  sessionFenced,
  sessionNotFound,
  stateAfter,
  storedRecord,
} from 'signalbox/durable'
import { type Database, hashOf } from './database.ts'
import { openScript } from './scripts.ts'
import { type OpenedJournal, openText, questionsText } from './session-log.ts'

const pageSize = 500
/** An owner that writes all the time is stopped after so many tries to catch up with it. */
const patience = 3

/** Makes this token the owner. The next commit of a previous owner fails. */
export async function openJournal(
  database: Database,
  id: string,
  token: string,
  lockMs: number,
  given: OpenJournalOptions,
): Promise<OpenedJournal> {
  const session = hashOf(id)
  const outer = outerIn(given.created)
  const around = outer === undefined ? session : hashOf(outer)
  let born = ''
  let records: JournalRecord[] = []
  for (let attempt = 0; ; attempt++) {
    const kept = await database.run((redis) => redis.hget(database.key(session), 'born'))
    if (born !== (kept ?? '')) records = []
    born = kept ?? ''
    if (born === '' && given.mode === 'resume') throw sessionNotFound(id)
    if (born !== '' && given.mode === 'create') throw sessionExists(id)
    for await (const record of readLog(database, id, records.length)) records.push(record)
    const opening = firstRecords(id, given, records.length, Date.now())
    const bodies = opening.map(({ body }) => body)
    const all = [...records, ...opening.map((each) => storedRecord(id, each, each.n))]
    const state = all.reduce<SessionState>(stateAfter, newSessionState)
    const told = await database.script(
      openScript,
      ...[database.key(session), database.key(session, 'log'), database.key(session, 'alive'), database.index],
      ...[database.key(around), database.key(around, 'agents')],
      ...[token, born, records.length, attempt < patience ? 0 : 1, lockMs, session],
      ...[state.status, questionsText(state), openText(state)],
      bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0),
      ...[opening[0]?.at ?? 0, JSON.stringify(given.owner), JSON.stringify(id)],
      ...(outer === undefined ? ['', ''] : [JSON.stringify(outer), given.within ?? '']),
      ...bodies,
    )
    if (told === 'fenced') throw sessionFenced(outer ?? id)
    if (told !== 'opened') continue
    const bytes = Number(await database.run((redis) => redis.hget(database.key(session), 'bytes')))
    return { records: all, bytes, state }
  }
}

/** The records from number `from` on. */
export async function* readLog(database: Database, id: string, from = 0): AsyncGenerator<JournalRecord> {
  const log = database.key(hashOf(id), 'log')
  for (let next = from; ; ) {
    const page = await database.run((redis) => redis.xrange(log, `${next + 1}-0`, '+', 'COUNT', pageSize))
    for (const [place, [, at, , body]] of page) {
      if (place !== `${next + 1}-0` || body === undefined)
        throw journalCorrupt(id, `record ${next}`, `it is followed by ${place}`)
      yield storedRecord(id, { n: next, at: Number(at), body }, next++)
    }
    if (page.length < pageSize) return
  }
}
