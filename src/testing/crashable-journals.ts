import {
  type Journal,
  type JournalRecord,
  type JournalStore,
  keyOf,
  type NewRecord,
  type SessionNote,
} from '../journal/journal.ts'
import { sessionFenced } from '../journal/journal-errors.ts'
import { newSessionState, type SessionState, stateAfter } from '../journal/session-state.ts'

/** A store of one session without timers: records become durable when somebody flushes, and a crash loses the others. */
export class CrashableJournals implements JournalStore {
  readonly records: JournalRecord[] = []
  /** Appended, and not durable yet. */
  pending: NewRecord[] = []
  readonly #inbox = new Map<string, SessionNote>()
  #listeners = new Set<(note: SessionNote) => void>()
  #opening = 0

  get state(): SessionState {
    return this.records.reduce<SessionState>(stateAfter, newSessionState)
  }

  /** Questions that nobody has answered, in the log or in the inbox. */
  get openQuestions(): string[] {
    return [...this.state.questions.keys()].filter((id) => !this.#inbox.has(id))
  }

  /** Ends the current owner. `isWritten`: what it appended last became durable just before. */
  crash(isWritten: boolean): void {
    if (isWritten) this.#commit()
    this.pending = []
    this.#opening++
    this.#listeners = new Set()
  }

  async open(id: string, { owner, created }: Parameters<JournalStore['open']>[1]): Promise<Journal> {
    this.crash(false)
    const opening = this.#opening
    const isOwn = (): boolean => opening === this.#opening
    if (this.records.length === 0) this.pending.push({ ...created, t: 'session.created', v: 1, id })
    this.pending.push({ t: 'session.opened', owner })
    this.#commit()
    return {
      id,
      records: structuredClone(this.records),
      append: (record) => {
        if (isOwn()) this.pending.push(JSON.parse(JSON.stringify(record)))
      },
      flush: () => {
        if (!isOwn()) return Promise.reject(sessionFenced(id))
        if (this.pending.length === 0) return undefined
        return Promise.resolve().then(() => {
          if (!isOwn()) throw sessionFenced(id)
          this.#commit()
        })
      },
      onNote: (listener) => {
        this.#listeners.add(listener)
        for (const note of this.#inbox.values()) queueMicrotask(() => listener(note))
        return () => void this.#listeners.delete(listener)
      },
      close: async () => undefined,
    }
  }

  async post(_id: string, note: SessionNote): Promise<'accepted' | 'stale'> {
    const key = keyOf(note)
    if (this.#inbox.has(key) || (note.type === 'answer' && !this.state.questions.has(key))) return 'stale'
    this.#inbox.set(key, note)
    for (const listener of this.#listeners) queueMicrotask(() => listener(note))
    return 'accepted'
  }

  async *read(): AsyncGenerator<JournalRecord> {
    yield* this.records
  }

  async *list(): AsyncGenerator<never> {}

  async remove(): Promise<void> {}

  #commit(): void {
    for (const record of this.pending.splice(0)) {
      if (record.note !== undefined) this.#inbox.delete(record.note)
      this.records.push({ ...record, n: this.records.length, at: 0 })
    }
  }
}
