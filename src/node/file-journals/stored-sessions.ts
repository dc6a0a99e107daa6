import { describeError } from '../../base/describe-error.ts'
import { invalidOption } from '../../base/invalid-option.ts'
import { isSignalboxError, SignalboxError } from '../../base/signalbox-error.ts'
import { type JournalRecord, keyOf, type SessionSummary, type StoredStatus } from '../../journal/journal.ts'
import { outerIn } from '../../journal/pending-records.ts'
import { checkRecord } from '../../journal/record-types.ts'
import type { StoredResults } from '../../journal/session-results.ts'
import { newSessionState, stateAfter, statusOf } from '../../journal/session-state.ts'
import { removeLeftovers } from './blobs.ts'
import type { Disk } from './disk.ts'
import type { Inbox } from './inbox.ts'
import type { FileJournalsOptions } from './options.ts'
import { noLog, type ReadLog } from './read-log.ts'
import { blobFile, filesNamed, filesOf, logName, type SessionFiles } from './session-files.ts'
import type { SessionLocks } from './session-lock.ts'

/** Called for a broken record instead of throwing; the records before it are returned. */
export type OnDamage = (error: SignalboxError) => void

interface Parts extends Pick<FileJournalsOptions, 'redact' | 'results'> {
  readonly disk: Disk
  readonly locks: SessionLocks
  readonly folder: string
  logOf(id: string, files: SessionFiles, onDamage?: OnDamage): Promise<ReadLog | undefined>
  inboxOf(files: SessionFiles): Inbox
}

interface Found {
  readonly files: SessionFiles
  readonly log: ReadLog
  readonly summary: SessionSummary
}

const month = 30 * 24 * 60 * 60 * 1_000

/** All sessions in a folder: lists them, and removes them with all their files. */
export class StoredSessions {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    parts.results?.keepFor(() => this.#mentioned())
  }

  async has({ folder, name }: SessionFiles): Promise<boolean> {
    return (await this.#parts.disk.list(folder)).some((file) => logName(file) === name)
  }

  async *list(status?: readonly StoredStatus[]): AsyncGenerator<SessionSummary> {
    const { redact } = this.#parts
    for await (const { summary } of this.#all())
      if (status?.includes(summary.status) ?? true) yield redact?.(summary) ?? summary
  }

  /** Rejects with `session_locked` if somebody owns it. */
  async remove(id: string, files: SessionFiles, mayGo: () => Promise<boolean> = async () => true): Promise<boolean> {
    const { disk, locks, logOf } = this.#parts
    if (!(await this.has(files))) return false
    const release = await locks.take(id, files, 'remove')
    try {
      if (!(await mayGo())) return false
      const log = await logOf(id, files, () => undefined)
      // first, because only this log names them
      for (const agent of agentsIn(log?.records ?? [])) await this.remove(agent, filesOf(files.folder, agent))
      await disk.remove(files.inbox)
      // the log before its blobs: a log without them would be damaged
      await disk.remove(files.log)
      await disk.syncFolder(files.folder)
      for (const blob of log?.blobs ?? []) await disk.remove(blobFile(files, blob))
      if (log !== undefined) await this.#removeResults(log)
      return true
    } finally {
      await release()
    }
  }

  async sweep(maxAgeMs: number = month): Promise<string[]> {
    if (!(maxAgeMs >= 0)) invalidOption('maxAgeMs', 'milliseconds', maxAgeMs)
    const removed: string[] = []
    const { disk, folder } = this.#parts
    let limit: number | undefined
    const isOld = async ({ log }: SessionFiles): Promise<boolean> => {
      limit ??= (await disk.now(folder)) - maxAgeMs
      return (await disk.changedAt(log)) <= limit
    }
    for await (const { files, summary } of this.#all()) {
      if (!isSweepable(summary) || !(await isOld(files)) || (await this.#isNeeded(summary))) continue
      const stillMay = async () => {
        const again = await this.#find(files, [])
        if (again === undefined || !isSweepable(again.summary) || !(await isOld(files))) return false
        return !(await this.#hasMail(again))
      }
      try {
        if (await this.remove(summary.id, files, stillMay)) removed.push(summary.id)
      } catch (error) {
        // somebody has just opened it
        if (!isSignalboxError(error) || error.code !== 'session_locked') throw error
      }
    }
    await removeLeftovers(disk, folder, () => this.#collect(({ blobs }) => blobs))
    return removed
  }

  async *#all(): AsyncGenerator<Found> {
    const { disk, folder } = this.#parts
    const names = await disk.list(folder).catch((error: unknown) => {
      throw folderError(folder, 'listed', error)
    })
    for (const file of names) {
      const name = logName(file)
      const found = name === undefined ? undefined : await this.#find(filesNamed(folder, name))
      if (found !== undefined) yield found
    }
  }

  /** `locks`: the names of lock files, if not those that are there. */
  async #find(files: SessionFiles, locks?: readonly string[]): Promise<Found | undefined> {
    let problem: SessionSummary['problem']
    const onDamage: OnDamage = () => {
      problem = 'journal_corrupt'
    }
    const log = await this.#parts.logOf(files.name, files, onDamage).catch((error: unknown) => {
      // a wrong seal is a mistake of the host
      if (isSignalboxError(error) && error.code === 'invalid_option') throw error
      // such as a folder of that name, or a file of another user: the others can still be listed
      problem = isSignalboxError(error) && error.code === 'journal_newer' ? 'journal_newer' : 'journal_error'
      return undefined
    })
    if (log === undefined && problem === undefined) return undefined
    const found = log ?? noLog
    const owner = await this.#parts.locks.ownerOf(files, locks)
    const summary = summaryOf(files.name, found.records, owner)
    problem ??= problemOf(summary.id, found.records)
    return { files, log: found, summary: problem === undefined ? summary : { ...summary, problem } }
  }

  /** An agent goes with the session around it, which may have yet to record what it did. */
  async #isNeeded({ outer }: SessionSummary): Promise<boolean> {
    return outer !== undefined && (await this.has(filesOf(this.#parts.folder, outer)))
  }

  async #hasMail({ files, log, summary }: Found): Promise<boolean> {
    const copied = new Set(log.records.map(({ note }) => note))
    const notes = await this.#parts.inboxOf(files).take(summary.id, new Set())
    return notes.some((note) => !copied.has(keyOf(note)))
  }

  /** The same result in two sessions is one file. */
  async #removeResults(log: ReadLog): Promise<void> {
    const { results } = this.#parts
    const names = results === undefined ? [] : namesOf(results, log.records)
    if (names.length === 0) return
    const others = await this.#mentioned()
    await results?.remove(names.filter((name) => others?.has(name) === false))
  }

  /** The names of stored results that any session refers to; undefined if one is damaged and may refer to any. */
  #mentioned(): Promise<Set<string> | undefined> {
    const { results } = this.#parts
    return this.#collect(({ records }) => (results === undefined ? [] : namesOf(results, records)))
  }

  async #collect(namesIn: (log: ReadLog) => readonly string[]): Promise<Set<string> | undefined> {
    const names = new Set<string>()
    for await (const { log, summary } of this.#all()) {
      if (summary.problem === 'journal_corrupt' || summary.problem === 'journal_error') return undefined
      for (const name of namesIn(log)) names.add(name)
    }
    return names
  }
}

export function folderError(folder: string, what: 'listed' | 'swept', error: unknown): unknown {
  if (isSignalboxError(error)) return error
  const message = `The sessions in ${folder} cannot be ${what}: ${describeError(error)}`
  return new SignalboxError('journal_error', message, { cause: error })
}

/** Idle, readable, and not open anywhere. An agent without the session around it never goes on. */
const isSweepable = ({ status, owner, problem, outer }: SessionSummary): boolean =>
  (status === 'idle' || outer !== undefined) && owner === undefined && problem === undefined

const agentsIn = (records: readonly JournalRecord[]): string[] =>
  records.flatMap(({ t, session }) => (t === 'agent.started' && typeof session === 'string' ? session : []))

/** Finds the names of stored results anywhere in a record, even inside a text for the model. */
const namesOf = (results: StoredResults, records: readonly JournalRecord[]): string[] =>
  records.flatMap((record) => results.namesIn(JSON.stringify(record)))

function problemOf(id: string, records: readonly JournalRecord[]): SessionSummary['problem'] {
  try {
    for (const record of records) checkRecord(id, record)
    return undefined
  } catch (error) {
    return isSignalboxError(error) && error.code === 'journal_newer' ? 'journal_newer' : 'journal_corrupt'
  }
}

function summaryOf(name: string, records: readonly JournalRecord[], owner: string | undefined): SessionSummary {
  const [first] = records
  const state = records.reduce(stateAfter, newSessionState)
  const outer = outerIn(first)
  return {
    id: typeof first?.id === 'string' ? first.id : name,
    status: statusOf(state, owner !== undefined),
    records: records.length,
    createdAt: first?.at ?? 0,
    updatedAt: records.at(-1)?.at ?? 0,
    questions: [...state.questions.keys()],
    ...(owner !== undefined && { owner }),
    ...(outer !== undefined && { outer }),
  }
}
