import type { SignalboxError } from '../base/signalbox-error.ts'
import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import { checkNote } from './check-arguments.ts'
import type { Journal, JournalRecord, NewRecord, SessionNote } from './journal.ts'
import { journalClosed, journalCorrupt, journalError } from './journal-errors.ts'
import { checkLimits, type JournalLimits } from './journal-limits.ts'
import { NoteQueue } from './note-queue.ts'
import { bodyOf, type PendingRecord, RecordCounter } from './pending-records.ts'

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

/** A commit that has not begun. */
interface NextCommit {
  readonly done: Promise<void>
  /** It begins as soon as the one before is over. */
  isUrgent: boolean
  begin(): void
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
  #pending: PendingRecord[] = []
  #inFlight: Promise<void> | undefined
  #next: NextCommit | undefined
  #linger: ReturnType<typeof setTimeout> | undefined
  /** Since the timer was started. */
  #hasCommitted = false
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
    try {
      this.#pending.push(this.#counter.number(json ?? bodyOf(record)))
    } catch (error) {
      this.#refusal = journalError(this.id, error)
      return
    }
    if (typeof record.note === 'string') this.#notes.copied(record.note)
    this.#linger ??= this.#startLinger()
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
    this.#pending = []
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

  /** The timer outlives a commit, since a new one for each commit would cost more; what came after it waits once more. */
  #startLinger(): ReturnType<typeof setTimeout> {
    this.#hasCommitted = false
    return unrefed(
      setTimeout(() => {
        this.#linger = this.#hasCommitted && this.#pending.length > 0 ? this.#startLinger() : undefined
        if (this.#linger === undefined) void this.flush()
      }, this.#lingerMs),
    )
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
    if (this.#pending.length === 0) return this.#inFlight
    this.#next ??= this.#schedule()
    const next = this.#next
    if (isAlone) {
      next.isUrgent = true
      if (this.#inFlight === undefined) next.begin()
    }
    return next.done
  }

  #schedule(): NextCommit {
    let settle: (commit: Promise<void>) => void
    const done = handled(
      new Promise((resolve) => {
        settle = resolve
      }),
    )
    const next: NextCommit = {
      done,
      isUrgent: false,
      begin: () => {
        if (this.#next === next) settle(this.#startCommit())
      },
    }
    const begin = (): void => (next.isUrgent ? next.begin() : atEndOfStep(next.begin))
    if (this.#inFlight === undefined) atEndOfStep(next.begin)
    else void this.#inFlight.then(begin, begin)
    return next
  }

  #startCommit(): Promise<void> {
    const batch = this.#pending
    this.#pending = []
    this.#next = undefined
    this.#hasCommitted = true
    const commit = this.#failure === undefined ? this.#sink.commit(batch) : Promise.reject(this.#failure)
    this.#inFlight = handled(
      commit.then(
        () => {
          this.#inFlight = undefined
          this.#durable += batch.length
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
