import { checkId, checkNote, checkOpening } from '../journal/check-arguments.ts'
import {
  type Journal,
  type JournalRecord,
  type JournalStore,
  keyOf,
  type OpenJournalOptions,
  type SessionNote,
  type SessionSummary,
} from '../journal/journal.ts'
import { sessionExists, sessionFenced, sessionNotFound } from '../journal/journal-errors.ts'
import type { JournalLimits } from '../journal/journal-limits.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import { firstRecords, outerIn, type PendingRecord, storedRecord } from '../journal/pending-records.ts'
import { newSessionState, type SessionState, stateAfterBodies, statusOf } from '../journal/session-state.ts'

export interface MemoryJournalsOptions {
  readonly limits?: JournalLimits | undefined
  /** @default Date.now */
  readonly now?: (() => number) | undefined
}

interface KeptSession {
  readonly log: PendingRecord[]
  readonly inbox: Map<string, string>
  state: SessionState
  bytes: number
  owner?: { readonly name: string; readonly journal: JournalWriter } | undefined
}

/** Keeps sessions in memory, for tests and for hosts that need no more. The last owner that opened a session owns it. */
export function memoryJournals({ limits, now = Date.now }: MemoryJournalsOptions = {}): JournalStore {
  const sessions = new Map<string, KeptSession>()
  const find = (id: string): KeptSession => {
    checkId(id)
    const session = sessions.get(id)
    if (session === undefined) throw sessionNotFound(id)
    return session
  }

  return {
    async open(id: string, options: OpenJournalOptions): Promise<Journal> {
      checkOpening(id, options)
      const outer = outerIn(options.created)
      if (options.within !== undefined && outer !== undefined) {
        if (sessions.get(outer)?.owner?.journal.opening !== options.within) throw sessionFenced(outer)
      }
      const found = sessions.get(id)
      if (found !== undefined && options.mode === 'create') throw sessionExists(id)
      if (found === undefined && options.mode === 'resume') throw sessionNotFound(id)
      const session: KeptSession = found ?? { log: [], inbox: new Map(), state: newSessionState, bytes: 0 }
      recordsOf(id, session)
      keep(session, firstRecords(id, options, session.log.length, now()))
      sessions.set(id, session)
      const isOurs = () => sessions.get(id) === session && session.owner?.journal === journal
      const sink = {
        async commit(records: readonly PendingRecord[]) {
          if (!isOurs()) throw sessionFenced(id)
          keep(session, records)
        },
        async release() {
          if (isOurs()) session.owner = undefined
        },
      }
      const { bytes } = session
      const journal = new JournalWriter({ id, records: recordsOf(id, session), bytes, sink, limits, now, lingerMs: 0 })
      session.owner = { name: options.owner, journal }
      for (const note of session.inbox.values()) journal.deliver(JSON.parse(note))
      return journal
    },

    async *read(id) {
      // a copy: what is appended from here on is not part of it
      yield* recordsOf(id, find(id))
    },

    async *list(filter) {
      for (const [id, session] of [...sessions]) {
        const summary = summaryOf(id, session)
        if (filter?.status?.includes(summary.status) ?? true) yield summary
      }
    },

    async post(id, note: SessionNote) {
      checkNote(note)
      const session = find(id)
      const key = keyOf(note)
      const isOpen = note.type !== 'answer' || session.state.questions.has(key)
      if (!isOpen || session.inbox.has(key)) return 'stale'
      session.inbox.set(key, JSON.stringify(note))
      session.owner?.journal.deliver(JSON.parse(JSON.stringify(note)))
      return 'accepted'
    },

    async remove(id) {
      checkId(id)
      removeTree(sessions, id)
    },
  }
}

/** With the agents inside it. */
function removeTree(sessions: Map<string, KeptSession>, id: string): void {
  sessions.delete(id)
  for (const [inner, { log }] of [...sessions]) if (outerOf(log) === id) removeTree(sessions, inner)
}

const outerOf = ([created]: readonly PendingRecord[]): string | undefined =>
  created === undefined ? undefined : outerIn(JSON.parse(created.body))

function keep(session: KeptSession, records: readonly PendingRecord[]): void {
  for (const record of records) {
    session.log.push(record)
    session.bytes += record.body.length
  }
  session.state = stateAfterBodies(
    session.state,
    records.map(({ body }) => body),
  )
}

/** Copies, so that callers cannot change the stored records. Throws if the log is damaged or newer. */
const recordsOf = (id: string, { log }: KeptSession): JournalRecord[] =>
  log.map((record, n) => storedRecord(id, record, n))

function summaryOf(id: string, { log, state, owner }: KeptSession): SessionSummary {
  return {
    id,
    status: statusOf(state, owner !== undefined),
    records: log.length,
    createdAt: log[0]?.at ?? 0,
    updatedAt: log.at(-1)?.at ?? 0,
    questions: [...state.questions.keys()],
    owner: owner?.name,
    ...(outerOf(log) !== undefined && { outer: outerOf(log) }),
  }
}
