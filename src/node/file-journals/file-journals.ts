import { resolve } from 'node:path'
import { checkId, checkNote, checkOpening } from '../../journal/check-arguments.ts'
import type { Journal, JournalStore, OpenJournalOptions, SessionNote } from '../../journal/journal.ts'
import { journalCorrupt, journalError, sessionExists, sessionNotFound } from '../../journal/journal-errors.ts'
import { JournalWriter } from '../../journal/journal-writer.ts'
import { firstRecords } from '../../journal/pending-records.ts'
import { checkRecord } from '../../journal/record-types.ts'
import { newSessionState, stateAfter } from '../../journal/session-state.ts'
import type { Disk } from './disk.ts'
import { Inbox } from './inbox.ts'
import { InboxWatch } from './inbox-watch.ts'
import { LogFile } from './log-file.ts'
import { LogLines } from './log-lines.ts'
import { nodeDisk } from './node-disk.ts'
import { checkFileJournals, type FileJournalsOptions, sealer } from './options.ts'
import { type ProcessView, thisProcess } from './process-identity.ts'
import { noLog, type ReadLog, readLog } from './read-log.ts'
import { filesOf, type SessionFiles } from './session-files.ts'
import { SessionLocks } from './session-lock.ts'
import { folderError, type OnDamage, StoredSessions } from './stored-sessions.ts'

export interface FileJournals extends JournalStore {
  /** Removes sessions that have been idle for longer than `maxAgeMs` (30 days). Resolves with their ids. */
  sweep(options?: { readonly maxAgeMs?: number | undefined }): Promise<string[]>
}

/** Keeps each session as a file that only this user can read. */
export const fileJournals = (options: FileJournalsOptions): FileJournals =>
  journalsOn(nodeDisk, thisProcess(), checkFileJournals(options))

/** The same on any file system, for tests. */
export function journalsOn(disk: Disk, processes: ProcessView, options: FileJournalsOptions): FileJournals {
  const { limits, rescanMs = 2_000 } = options
  const folder = resolve(options.folder)
  const seals = sealer(options.seal)
  const locks = new SessionLocks(disk, processes)
  const watches = new Map<string, InboxWatch>()
  const linesOf = (files: SessionFiles) => new LogLines(disk, files, seals)
  const inboxOf = (files: SessionFiles) => new Inbox(disk, files, seals)
  const logOf = async (id: string, files: SessionFiles, onDamage: OnDamage = fail): Promise<ReadLog | undefined> => {
    const lines = linesOf(files)
    for (let known: string | undefined; ; ) {
      const data = await disk.read(files.log)
      const log = data && (await readLog(id, data, lines))
      const damage = log?.damage
      // a log that is written meanwhile may look damaged; when it is read again, that place is whole
      if (damage !== undefined && damage.message !== known) {
        known = damage.message
        continue
      }
      if (damage !== undefined) onDamage(damage)
      // the first record is incomplete: the session was never created
      return log === undefined || log.records.length === 0 ? undefined : log
    }
  }
  const sessions = new StoredSessions({ ...options, disk, locks, folder, logOf, inboxOf })

  async function openLocked(id: string, files: SessionFiles, given: OpenJournalOptions, release: () => Promise<void>) {
    const found = await logOf(id, files)
    checkMode(id, given, found !== undefined)
    const log = found ?? noLog
    for (const record of log.records) checkRecord(id, record)
    checkName(id, log)
    const inbox = inboxOf(files)
    if (found === undefined) await disk.remove(files.inbox)
    await inbox.make()
    const seen = new Set<string>()
    const notes = await inbox.take(id, seen)
    const opening = firstRecords(id, given, log.records.length, Date.now())
    const file = new LogFile(id, await disk.open(files.log), linesOf(files), log, release)
    try {
      await file.cutTail()
      await file.commit(opening)
      if (found === undefined) await disk.syncFolder(folder)
    } catch (error) {
      await file.release().catch(() => undefined)
      throw error
    }
    return { log, opening, file, inbox, seen, notes }
  }

  async function open(id: string, given: OpenJournalOptions): Promise<Journal> {
    checkOpening(id, given)
    const files = filesOf(folder, id)
    // before the folder is made, so that a refusal leaves nothing behind
    if (given.mode === 'resume' && !(await sessions.has(files))) throw sessionNotFound(id)
    await disk.makeFolder(folder)
    const release = await locks.take(id, files, given.owner)
    const opened = await openLocked(id, files, given, release).catch(async (error: unknown) => {
      await release().catch(() => undefined)
      throw error
    })
    const { log, opening, file, inbox, seen, notes } = opened
    const records = [...log.records, ...opening.map(({ n, at, body }) => ({ n, at, ...JSON.parse(body) }))]
    const sink = {
      commit: (batch: Parameters<LogFile['commit']>[0]) => file.commit(batch),
      async release() {
        watches.delete(files.name)
        await watch.end()
        await file.release()
      },
    }
    const journal = new JournalWriter({ id, records, bytes: log.bytes, sink, limits })
    for (const note of notes) journal.deliver(note)
    const watch = new InboxWatch(disk, inbox, files.inbox, rescanMs, journal, seen)
    watches.set(files.name, watch)
    // a note may have come between the first look and the watch
    void watch.look()
    return journal
  }

  async function post(id: string, note: SessionNote): Promise<'accepted' | 'stale'> {
    checkId(id)
    checkNote(note)
    const files = filesOf(folder, id)
    const log = await logOf(id, files)
    if (log === undefined) throw sessionNotFound(id)
    const { questions } = log.records.reduce(stateAfter, newSessionState)
    if (note.type === 'answer' && !questions.has(note.question)) return 'stale'
    const isFirst = await inboxOf(files).put(note)
    void watches.get(files.name)?.look()
    return isFirst ? 'accepted' : 'stale'
  }

  return {
    open: (id, given) => withCode(id, open(id, given)),
    async *read(id) {
      checkId(id)
      const log = await withCode(id, logOf(id, filesOf(folder, id)))
      if (log === undefined) throw sessionNotFound(id)
      for (const record of log.records) {
        checkRecord(id, record)
        yield record
      }
    },
    list: (filter) => sessions.list(filter?.status),
    post: (id, note) => withCode(id, post(id, note)),
    async remove(id) {
      checkId(id)
      await withCode(id, sessions.remove(id, filesOf(folder, id)))
    },
    sweep: (given) =>
      sessions.sweep(given?.maxAgeMs).catch((error: unknown) => {
        throw folderError(folder, 'swept', error)
      }),
  }
}

function fail(error: unknown): never {
  throw error
}

/** A person may have copied or renamed the file of another session. */
function checkName(id: string, { records: [first] }: ReadLog): void {
  if (first !== undefined && first.id !== id)
    throw journalCorrupt(id, 'record 0', `it is the log of session ${String(first.id)}`)
}

function checkMode(id: string, { mode }: OpenJournalOptions, exists: boolean): void {
  if (exists && mode === 'create') throw sessionExists(id)
  if (!exists && mode === 'resume') throw sessionNotFound(id)
}

/** Converts a file system error to an error with a code. */
const withCode = <T>(id: string, promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw journalError(id, error)
  })
