import { isSignalboxError } from '../base/signalbox-error.ts'
import type { Journal, NewRecord } from '../journal/journal.ts'
import { journalError } from '../journal/journal-errors.ts'
import type { SessionRecord } from '../journal/records.ts'
import type { Prices, Spent } from '../usage/usage-total.ts'
import { foldInto, SessionFold } from './session-fold.ts'
import { writable } from './writable-record.ts'

/** The log that has these records. */
export interface RecordsOwner {
  /** A record is appended, and part of the state. */
  recorded(record: SessionRecord): void
  /** The journal has failed, and the listeners know. */
  failed(cause: unknown): void
}

/** A record that a resumed session can do without: it finds a turn complete, and commits it again. */
const isMark = (record: SessionRecord): boolean =>
  record.t === 'turn.committed' || (record.t === 'usage.spent' && isTime(record.spent))

/** Requests, calls and agents count against limits, so they are durable before the next request. */
const isTime = ({ request, calls, agents }: Spent): boolean =>
  request === undefined && calls === undefined && agents === undefined

/** The records of one session: each goes to the journal, then into the state. Knows which are durable. */
export class SessionRecords {
  /** The state after the last record. */
  readonly fold: SessionFold
  readonly #journal: Journal
  readonly #owner: RecordsOwner
  readonly #listeners = new Set<(error: unknown) => void>()
  #failure: unknown
  /** The length of the log, and its length after the last record with content. */
  #length: number
  #content = 0
  /** A commit that records wait for. */
  #flushing: { readonly commit: Promise<void>; readonly isDurable: Promise<boolean> } | undefined

  constructor(journal: Journal, prices: Prices | undefined, owner: RecordsOwner) {
    this.#journal = journal
    this.#owner = owner
    this.#length = journal.records.length
    this.fold = foldInto(new SessionFold(prices), journal.id, journal.records)
  }

  get session(): string {
    return this.#journal.id
  }

  get failure(): unknown {
    return this.#failure
  }

  /** The end of a run copies `endNote`. */
  append(record: SessionRecord, endNote?: string): void {
    if (this.#failure !== undefined) return
    const note = record.t === 'run.ended' ? endNote : undefined
    const whole = (note === undefined ? record : { ...record, note }) as unknown as NewRecord
    const { value, json } = writable(whole)
    this.#journal.append(value, json)
    this.#length++
    if (!isMark(record)) this.#content = this.#length
    this.fold.take(whole)
    this.#owner.recorded(record)
  }

  flush(isAlone = false): Promise<boolean> | undefined {
    if (this.#failure !== undefined) return Promise.resolve(false)
    const commit = this.#journal.flush(isAlone)
    if (commit === undefined) return undefined
    // calls that end together wait for the same commit
    if (commit !== this.#flushing?.commit) this.#flushing = { commit, isDurable: this.#follow(commit) }
    return this.#flushing.isDurable
  }

  flushContent(): Promise<boolean> | undefined {
    const isDurable = this.#failure === undefined && (this.#journal.durable ?? 0) >= this.#content
    return isDurable ? undefined : this.flush()
  }

  #follow(commit: Promise<void>): Promise<boolean> {
    return commit.then(
      () => this.#failure === undefined,
      (error: unknown) => this.fail(error),
    )
  }

  onFailure(listener: (error: unknown) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The first failure counts. */
  fail(cause: unknown): false {
    if (this.#failure !== undefined) return false
    this.#failure = isSignalboxError(cause) ? cause : journalError(this.session, cause)
    for (const listener of [...this.#listeners]) listener(this.#failure)
    this.#owner.failed(cause)
    return false
  }
}
