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
  let bytes = 0
  for (let attempt = 0; ; attempt++) {
    const kept = await database.run((redis) => redis.hget(database.key(session), 'born'))
    if (born !== (kept ?? '')) [records, bytes] = [[], 0]
    born = kept ?? ''
    if (born === '' && given.mode === 'resume') throw sessionNotFound(id)
    if (born !== '' && given.mode === 'create') throw sessionExists(id)
    for await (const entry of entries(database, id, records.length)) {
      records.push(storedRecord(id, entry, entry.n))
      bytes += Buffer.byteLength(entry.body)
    }
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
      ...[opening[0]?.at ?? 0, JSON.stringify(given.owner), JSON.stringify(id)],
      ...(outer === undefined ? ['', ''] : [JSON.stringify(outer), given.within ?? '']),
      ...bodies,
    )
    if (told === 'fenced') throw sessionFenced(outer ?? id)
    if (told !== 'opened') continue
    return { records: all, bytes: bodies.reduce((sum, body) => sum + Buffer.byteLength(body), bytes), state }
  }
}

/** The records from number `from` on, as they are stored. */
async function* entries(database: Database, id: string, from: number): AsyncGenerator<PendingRecord> {
  const log = database.key(hashOf(id), 'log')
  for (let next = from; ; ) {
    const page = await database.run((redis) => redis.xrange(log, `${next + 1}-0`, '+', 'COUNT', pageSize))
    for (const [place, [, at, , body]] of page) {
      if (place !== `${next + 1}-0` || body === undefined)
        throw journalCorrupt(id, `record ${next}`, `it is followed by ${place}`)
      yield { n: next++, at: Number(at), body }
    }
    if (page.length < pageSize) return
  }
}

export async function* readLog(database: Database, id: string): AsyncGenerator<JournalRecord> {
  for await (const entry of entries(database, id, 0)) yield storedRecord(id, entry, entry.n)
}
