import type { SignalboxError } from '../base/signalbox-error.ts'
import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import { checkNote } from './check-arguments.ts'
import type { Journal, JournalRecord, NewRecord, SessionNote } from './journal.ts'
import { journalClosed, journalCorrupt, journalError } from './journal-errors.ts'
import { checkLimits, type JournalLimits } from './journal-limits.ts'
import { NoteQueue } from './note-queue.ts'
import { bodyOf, type PendingRecord, RecordCounter } from './pending-records.ts'
import { RecordBatch } from './record-batch.ts'

/** The functions of a store for an open journal. */
export interface JournalSink {
  /** Makes records durable, in order. One call at a time; after a rejection there is no other. */
  commit(records: readonly PendingRecord[]): Promise<void>
  /** Releases the session. Called once, after the last commit. */
  release(): Promise<void>
}

export interface JournalWriterOptions {
  readonly id: string
  /** @default a random text */
  readonly opening?: string | undefined
  /** The log so far, with the `session.opened` of this opening. */
  readonly records: readonly JournalRecord[]
  /** Bytes that the log takes so far. */
  readonly bytes: number
  readonly sink: JournalSink
  readonly limits?: JournalLimits | undefined
  readonly now?: (() => number) | undefined
  /**
   * Records that nobody flushes are committed after this time, or after twice this time if a commit comes between.
   * @default 100
   */
  readonly lingerMs?: number | undefined
}

/** The part of a journal that is the same in every store: order, group commit, limits, failure, notes. */
export class JournalWriter implements Journal {
  readonly id: string
  readonly opening: string
  readonly records: readonly JournalRecord[]
  readonly #sink: JournalSink
  readonly #counter: RecordCounter
  readonly #lingerMs: number
  readonly #notes = new NoteQueue()
  readonly #listeners = new Set<(error: unknown) => void>()
  #durable: number
  #inFlight: Promise<void> | undefined
  /** Undefined if there is nothing to commit. */
  #next: RecordBatch | undefined
  #linger: ReturnType<typeof setTimeout> | undefined
  /** Why no more records are accepted. Earlier records are still committed, unless a commit failed. */
  #refusal: SignalboxError | undefined
  #failure: SignalboxError | undefined
  #closing: Promise<void> | undefined

  constructor(options: JournalWriterOptions) {
    const { id, opening = defaultIdsAndTime.uuid(), records, bytes, sink, limits } = options
    const { now = Date.now, lingerMs = 100 } = options
    this.id = id
    this.opening = opening
    this.records = records
    this.#durable = records.length
    this.#sink = sink
    this.#lingerMs = lingerMs
    this.#counter = new RecordCounter(id, checkLimits(limits), now, records.length, bytes)
    for (const { note } of records) if (note !== undefined) this.#notes.copied(note)
  }

  get durable(): number {
    return this.#durable
  }

  append(record: NewRecord, json?: string): void {
    if (this.#closing !== undefined) this.#refusal ??= journalClosed(this.id)
    if (this.#failure !== undefined || this.#refusal !== undefined) return
    let numbered: PendingRecord
    try {
      numbered = this.#counter.number(json ?? bodyOf(record))
    } catch (error) {
      this.#refusal = journalError(this.id, error)
      return
    }
    this.#next ??= this.#newBatch()
    this.#next.records.push(numbered)
    if (typeof record.note === 'string') this.#notes.copied(record.note)
  }

  flush(isAlone = false): Promise<void> | undefined {
    const committed = this.#commit(isAlone)
    const problem = this.#failure ?? this.#refusal
    if (problem === undefined) return committed
    return handled((committed ?? Promise.resolve()).then(() => Promise.reject(problem)))
  }

  onNote(listener: (note: SessionNote) => void): () => void {
    return this.#notes.listen(listener)
  }

  /** For the store: the inbox has this note. One that is known is ignored; one that `post` would refuse is damaged. */
  deliver(note: SessionNote): void {
    try {
      checkNote(note)
    } catch (error) {
      return this.fail(journalCorrupt(this.id, 'a note in its inbox', (error as Error).message, error))
    }
    this.#notes.deliver(note)
  }

  /** For the store: the session is lost to this owner, for example to another one. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = journalError(this.id, error)
    for (const listener of this.#listeners) listener(this.#failure)
  }

  onFailure(listener: (error: unknown) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing ??= handled(this.#close())
    return this.#closing
  }

  /** The timer outlives a commit, since a new one for each commit would cost more; what comes after it waits once more. */
  #newBatch(): RecordBatch {
    if (this.#linger !== undefined) return new RecordBatch('early')
    this.#startLinger()
    return new RecordBatch('due')
  }

  #startLinger(): void {
    const end = (): void => {
      this.#linger = undefined
      const next = this.#next
      if (next?.urgency === 'due') void this.flush()
      if (next?.urgency !== 'early') return
      next.urgency = 'due'
      this.#startLinger()
    }
    this.#linger = unrefed(setTimeout(end, this.#lingerMs))
  }

  async #close(): Promise<void> {
    this.#notes.stop()
    const problem = this.#failure ?? this.#refusal
    try {
      await this.#commit()
    } finally {
      clearTimeout(this.#linger)
      await this.#sink.release()
    }
    if (problem !== undefined) throw problem
  }

  /** One commit at a time; the next one takes everything that was appended meanwhile. */
  #commit(isAlone = false): Promise<void> | undefined {
    if (this.#failure !== undefined) return undefined
    const next = this.#next
    if (next === undefined) return this.#inFlight
    const { done } = next
    if (next.urgency === 'early' || next.urgency === 'due') {
      next.urgency = 'awaited'
      this.#schedule(next)
    }
    if (isAlone) {
      next.urgency = 'alone'
      if (this.#inFlight === undefined) this.#begin(next)
    }
    return done
  }

  #schedule(next: RecordBatch): void {
    const begin = (): void => this.#begin(next)
    const follow = (): void => (next.urgency === 'alone' ? begin() : atEndOfStep(begin))
    if (this.#inFlight === undefined) atEndOfStep(begin)
    else void this.#inFlight.then(follow, follow)
  }

  #begin(next: RecordBatch): void {
    if (this.#next !== next) return
    this.#next = undefined
    next.begun(this.#write(next.records))
  }

  #write(records: readonly PendingRecord[]): Promise<void> {
    const commit = this.#failure === undefined ? this.#sink.commit(records) : Promise.reject(this.#failure)
    this.#inFlight = handled(
      commit.then(
        () => {
          this.#inFlight = undefined
          this.#durable += records.length
        },
        (error: unknown) => {
          this.#inFlight = undefined
          this.fail(error)
          throw this.#failure
        },
      ),
    )
    return this.#inFlight
  }
}

const { setImmediate: immediate } = globalThis as { setImmediate?: (then: () => void) => unknown }

/** When everything that follows without waiting is appended: the start of a call goes with the result of the one before. */
const atEndOfStep = (begin: () => void): void => {
  if (immediate === undefined) queueMicrotask(begin)
  else immediate(begin)
}

/** A rejected flush that nobody awaits must not end the process. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined)
  return promise
}

/** Unflushed records do not keep a process alive. */
function unrefed(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  if (typeof timer === 'object') (timer as { unref?(): void }).unref?.()
  return timer
}
