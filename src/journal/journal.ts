import type { PermissionAnswer } from '../tool/permission.ts'

/** A record as it is appended. Its fields are JSON; a store does not interpret them beyond those named here. */
export interface NewRecord {
  /** The type, such as `call.completed`. */
  readonly t: string
  /** A reader that does not know the type may skip the record. */
  readonly optional?: true
  /** The key of the note that this record copies into the log. */
  readonly note?: string
  readonly [field: string]: unknown
}

export interface JournalRecord extends NewRecord {
  /** The position in the log, from 0. */
  readonly n: number
  /** Milliseconds since 1970, by the clock of the writer. No rule compares it with another clock. */
  readonly at: number
}

/** A message from another process to a session. */
export type SessionNote =
  /** `question` is the key: the first answer to a question counts. `by` names the person who answered. */
  | {
      readonly type: 'answer'
      readonly question: string
      readonly answer: PermissionAnswer
      readonly by?: string | undefined
    }
  /** `uuid` is the key: the same message twice is one message. */
  | {
      readonly type: 'message'
      readonly uuid: string
      readonly content: unknown
      readonly interrupt?: boolean | undefined
    }
  | { readonly type: 'abort'; readonly uuid: string; readonly reason?: string | undefined }

/** `lost`: a run is unfinished and nobody owns the session. */
export type StoredStatus = 'running' | 'idle' | 'suspended' | 'lost'

export interface SessionSummary {
  readonly id: string
  readonly status: StoredStatus
  readonly records: number
  /** When the first and the last record were written, in milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Ids of questions that wait for an answer. */
  readonly questions: readonly string[]
  /** The session that this one is an agent of: it is removed with that one, and never swept by itself. */
  readonly outer?: string | undefined
  /** The owner that has the session open, if any. */
  readonly owner?: string | undefined
  /** Why the session cannot be opened, if the store can tell. `journal_error`: the store cannot read it. */
  readonly problem?: 'journal_corrupt' | 'journal_newer' | 'journal_error' | undefined
}

export interface OpenJournalOptions {
  /** Names this process or worker. */
  readonly owner: string
  /** `create` fails if the session exists (`session_exists`), `resume` if it does not (`session_not_found`). */
  readonly mode: 'create' | 'resume' | 'either'
  /** Fields for the record `session.created`, if this opening creates the session. `outer` names the session that this one is an agent of. */
  readonly created?: Readonly<Record<string, unknown>> | undefined
  /**
   * For an agent: the `opening` of the journal of the session around it. If that one is no longer open, or another owner
   * has the session, `session_fenced`: an owner that was replaced must not take an agent from the next one.
   */
  readonly within?: string | undefined
}

/** Where sessions are kept. */
export interface JournalStore {
  /** Appends `session.created` to a new log, then `session.opened`; both are durable when it resolves. */
  open(id: string, options: OpenJournalOptions): Promise<Journal>
  /** The records that are durable now. Needs no ownership. */
  read(id: string): AsyncIterable<JournalRecord>
  list(filter?: { readonly status?: readonly StoredStatus[] }): AsyncIterable<SessionSummary>
  /** Durable when it resolves. `stale`: the store has a note with this key, or no such question is open. */
  post(id: string, note: SessionNote): Promise<'accepted' | 'stale'>
  /** Removes everything that the store has of the session and of the agents inside it. A session that does not exist is no error. */
  remove(id: string): Promise<void>
}

/** The log of one session, open for writing by one owner. */
export interface Journal {
  readonly id: string
  /** Names this opening of the session among all others, for `within`. A store without it cannot tell them apart. */
  readonly opening?: string | undefined
  /** The log as it was opened. The last record is the `session.opened` of this opening; later ones are not added here. */
  readonly records: readonly JournalRecord[]
  /**
   * Keeps the order, copies the record and never throws; a failure is reported by `flush`. `n`, `at`, `c`, `blobs` and
   * `sealed` are the store's own fields and are left out. `json` is the record as JSON, if the caller has it: without the
   * store's own fields, and with `t` first.
   */
  append(record: NewRecord, json?: string): void
  /**
   * Resolves when everything appended so far is durable; undefined if it already is. Rejects for good once the journal has
   * failed. `isAlone`: nothing else follows in this step, so a commit need not wait for its end.
   */
  flush(isAlone?: boolean): Promise<void> | undefined
  /** How many records of the log are durable, those in `records` included. Without it, every request waits for all records. */
  readonly durable?: number
  /** Calls the listener with every note that no record has copied yet, then with new ones, each once. Returns a function that removes the listener. */
  onNote(listener: (note: SessionNote) => void): () => void
  /**
   * Calls the listener once when the session is lost without a write, for example to another owner: an owner that only waits
   * would never learn of it. Returns a function that removes the listener. A store without it tells only by `flush`.
   */
  onFailure?(listener: (error: unknown) => void): () => void
  /** Flushes, then releases the session. Rejects if the journal has failed; the session is released in any case. */
  close(): Promise<void>
}

/** The key under which a note is kept once. */
export const keyOf = (note: SessionNote): string => (note.type === 'answer' ? note.question : note.uuid)
