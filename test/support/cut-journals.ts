import type { Journal, JournalRecord, JournalStore, NewRecord, SessionNote } from 'signalbox/durable'
import { newSessionState, stateAfter } from '../../src/journal/session-state.ts'

/** A store of one session whose log begins as given. Whatever is appended is durable at once; there are no timers. */
export function cutJournals(before: readonly JournalRecord[]): JournalStore & { readonly records: JournalRecord[] } {
  const records: JournalRecord[] = structuredClone([...before])
  const inbox = new Map<string, SessionNote>()
  const listeners = new Set<(note: SessionNote) => void>()
  const append = (record: NewRecord): void => {
    if (typeof record.note === 'string') inbox.delete(record.note)
    records.push({ ...JSON.parse(JSON.stringify(record)), n: records.length, at: 0 })
  }
  const unsupported = (): never => {
    throw new Error('not needed here')
  }
  return {
    records,
    async open(id, { owner, created }): Promise<Journal> {
      if (records.length === 0) append({ ...created, t: 'session.created', v: 1, id })
      append({ t: 'session.opened', owner })
      return {
        id,
        records: structuredClone(records),
        append,
        flush: () => undefined,
        onNote: (listener) => {
          listeners.add(listener)
          for (const note of inbox.values()) queueMicrotask(() => listener(note))
          return () => void listeners.delete(listener)
        },
        close: async () => undefined,
      }
    },
    async post(_id, note) {
      const state = records.reduce<typeof newSessionState>(stateAfter, newSessionState)
      if (note.type !== 'answer' || !state.questions.has(note.question) || inbox.has(note.question)) return 'stale'
      inbox.set(note.question, note)
      for (const listener of listeners) queueMicrotask(() => listener(note))
      return 'accepted'
    },
    read: unsupported,
    list: unsupported,
    remove: unsupported,
  }
}
