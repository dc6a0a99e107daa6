import { randomUUID } from 'node:crypto'
import {
  checkId,
  checkNote,
  checkOpening,
  type Journal,
  type JournalLimits,
  type JournalRecord,
  type JournalStore,
  JournalWriter,
  journalError,
  keyOf,
  type OpenJournalOptions,
  type SessionNote,
  SessionResults,
  type StoredResults,
  sessionNotFound,
} from 'signalbox/durable'
import {
  checkDurability,
  checkEngine,
  checkMs,
  checkWholeMs,
  type EngineOptions,
  onceInAWhile,
  warnerOf,
} from '../engine.ts'
import { Database, hashOf } from './database.ts'
import { NoteListener, OpenInbox } from './note-listener.ts'
import { openJournal, readLog } from './open-journal.ts'
import { postScript, removeScript } from './scripts.ts'
import { SessionLog } from './session-log.ts'
import { listSessions, sweepSessions } from './stored-sessions.ts'

export interface RedisJournalsOptions extends EngineOptions {
  /**
   * How long to retry while Redis does not answer, before the journal fails, in milliseconds.
   * @default 30_000
   */
  readonly retryMs?: number | undefined
  /**
   * How long an owner that says nothing is listed as the owner, in milliseconds. A session can be taken over at any time.
   * @default 10_000
   */
  readonly lockMs?: number | undefined
  readonly limits?: JournalLimits | undefined
  /** The store of long results that sessions refer to. It keeps them as long as their session. */
  readonly results?: StoredResults | undefined
}

export interface RedisJournals extends JournalStore {
  /** Removes sessions that have been idle for longer than `maxAgeMs` (30 days). Resolves with their ids. */
  sweep(options?: { readonly maxAgeMs?: number | undefined }): Promise<string[]>
  /** Closes the connections. */
  end(): Promise<void>
}

/**
 * Keeps sessions in Redis. The last process that opens a session owns it; earlier owners can no longer write.
 *
 * @example
 * const journals = redisJournals({ connection: 'redis://127.0.0.1:6379' })
 */
export function redisJournals(options: RedisJournalsOptions): RedisJournals {
  checkEngine(options, ['retryMs', 'lockMs', 'limits', 'results'])
  const { retryMs = 30_000, lockMs = 10_000, limits, results } = options
  checkMs('retryMs', retryMs)
  checkWholeMs('lockMs', lockMs, 100)
  const warn = warnerOf(options)
  const onError = onceInAWhile(warn, 'The connection of redisJournals to Redis failed')
  const database = new Database(options, retryMs, onError)
  const listener = new NoteListener(database, lockMs, options, onError)
  let isChecked = false

  async function open(id: string, given: OpenJournalOptions): Promise<Journal> {
    checkOpening(id, given)
    const token = randomUUID()
    const opened = await openJournal(database, id, token, lockMs, given)
    if (!isChecked) {
      isChecked = true
      await checkDurability(database.redis, warn, 'records')
    }
    const log = new SessionLog(database, id, token, opened, () => listener.remove(inbox))
    const { records, bytes } = opened
    const journal = new JournalWriter({ id, opening: token, records, bytes, sink: log, limits })
    const inbox = new OpenInbox(database, journal, token)
    try {
      await listener.add(inbox)
    } catch (error) {
      await journal.close().catch(() => undefined)
      throw error
    }
    return journal
  }

  async function* read(id: string): AsyncGenerator<JournalRecord> {
    checkId(id)
    let isThere = false
    try {
      for await (const record of readLog(database, id)) {
        isThere = true
        yield record
      }
    } catch (error) {
      throw journalError(id, error)
    }
    if (!isThere) throw sessionNotFound(id)
  }

  async function post(id: string, note: SessionNote): Promise<'accepted' | 'stale'> {
    checkId(id)
    checkNote(note)
    const session = hashOf(id)
    const told = await database.script(
      postScript,
      ...[undefined, 'notes', 'bodies', 'inbox'].map((part) => database.key(session, part)),
      ...[hashOf(keyOf(note)), randomUUID(), JSON.stringify(note)],
      ...[note.type === 'answer' ? hashOf(note.question) : '', database.key(session, 'inbox')],
    )
    if (told === 'missing') throw sessionNotFound(id)
    return told as 'accepted' | 'stale'
  }

  const list: JournalStore['list'] = (filter) =>
    listSessions(database, onceInAWhile(warn, 'The entry of a session is damaged'), filter?.status)
  // a session with a damaged entry may refer to any result
  const orThrow = (error: Error): never => {
    throw error
  }
  const kept = new SessionResults({ list: () => listSessions(database, orThrow), read }, results)

  return {
    open: (id, given) => withCode(id, open(id, given)),
    read,
    list,
    post: (id, note) => withCode(id, post(id, note)),
    async remove(id) {
      checkId(id)
      const keys = [database.index, database.key(hashOf(id))]
      const names = await kept.namesOf(id)
      await withCode(id, database.script(removeScript, ...keys, database.base))
      await kept.removeUnused(names)
    },
    sweep: (given) => sweepSessions(database, kept, given?.maxAgeMs),
    async end() {
      listener.end()
      database.redis.disconnect()
    },
  }
}

/** Converts an error of Redis to an error with a code. */
const withCode = <T>(id: string, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw journalError(id, error)
  })
