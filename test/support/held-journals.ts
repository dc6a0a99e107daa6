import { type Journal, type JournalStore, JournalWriter, type PendingRecord, sessionFenced } from 'signalbox/durable'
import { firstRecords } from '../../src/journal/pending-records.ts'
import { settle } from './durable-lives.ts'

/** A store of one session whose commits are durable only when the test says so. */
export function heldJournals({ lingerMs = 0 } = {}) {
  const held: { readonly types: readonly string[]; readonly end: (error?: Error) => void }[] = []
  const kept: PendingRecord[] = []
  let isHolding = false
  let writer: JournalWriter | undefined
  const parsed = ({ n, at, body }: PendingRecord) => ({ n, at, ...JSON.parse(body) })
  const unsupported = (): never => {
    throw new Error('not needed here')
  }
  const store: JournalStore = {
    async open(id, options): Promise<Journal> {
      kept.push(...firstRecords(id, options, kept.length, 0))
      const sink = {
        async commit(records: readonly PendingRecord[]) {
          if (isHolding) {
            const types = records.map(({ body }) => JSON.parse(body).t)
            const isOver = new Promise<Error | undefined>((resolve) => held.push({ types, end: resolve }))
            const error = await isOver
            if (error !== undefined) throw error
          }
          kept.push(...records)
        },
        release: async () => undefined,
      }
      writer = new JournalWriter({ id, records: kept.map(parsed), bytes: 0, sink, lingerMs })
      return writer
    },
    async *read() {
      for (const record of kept.map(parsed)) yield record
    },
    async post(_id, note) {
      writer?.deliver(note)
      return 'accepted'
    },
    list: unsupported,
    remove: unsupported,
  }
  return {
    store,
    /** From now on nothing is durable. */
    hold: () => {
      isHolding = true
    },
    /** The types of the records of each commit that is under way. */
    underWay: () => held.map(({ types }) => types),
    /** Whether a durable record has this text. */
    has: (text: string) => kept.some(({ body }) => body.includes(text)),
    /** The types of all durable records. */
    durable: () => kept.map(({ body }) => JSON.parse(body).t),
    /** The commits that are under way are durable now. */
    letGo: async () => {
      for (const { end } of held.splice(0)) end()
      await settle()
    },
    /** Another owner has the session: the commits that are under way fail. */
    fence: async () => {
      for (const { end } of held.splice(0)) end(sessionFenced('s'))
      await settle()
    },
  }
}
