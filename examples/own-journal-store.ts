import {
  checkId,
  checkNote,
  checkOpening,
  firstRecords,
  type JournalRecord,
  type JournalStore,
  JournalWriter,
  keyOf,
  type NewRecord,
  newSessionState,
  outerIn,
  type PendingRecord,
  sessionExists,
  sessionFenced,
  sessionNotFound,
  stateAfter,
  statusOf,
  storedRecord,
} from 'signalbox/durable'
import { describeJournalStore } from 'signalbox/testing'

interface Row {
  log: PendingRecord[]
  notes: Map<string, string>
  owner?: { name: string; journal: JournalWriter } | undefined
}

/** A store on a Map. Replace the Map with your database. */
function mapJournals(): JournalStore {
  const rows = new Map<string, Row>()
  const bodiesOf = ({ log }: Row): NewRecord[] => log.map(({ body }) => JSON.parse(body))
  // throws if the log is damaged, or newer than this program
  const recordsOf = (id: string, { log }: Row): JournalRecord[] => log.map((kept, n) => storedRecord(id, kept, n))
  const find = (id: string): Row => {
    checkId(id)
    const row = rows.get(id)
    if (row === undefined) throw sessionNotFound(id)
    return row
  }
  return {
    async open(id, options) {
      checkOpening(id, options)
      const outer = outerIn(options.created)
      // an owner that was replaced must not open an agent; in a database: part of the same transaction
      if (outer !== undefined && options.within !== undefined)
        if (rows.get(outer)?.owner?.journal.opening !== options.within) throw sessionFenced(outer)
      const found = rows.get(id)
      if (found !== undefined && options.mode === 'create') throw sessionExists(id)
      const row: Row = options.mode === 'resume' ? find(id) : (found ?? { log: [], notes: new Map() })
      recordsOf(id, row) // before anything is written
      row.log.push(...firstRecords(id, options, row.log.length, Date.now()))
      rows.set(id, row)
      const isOurs = () => rows.get(id) === row && row.owner?.journal === journal
      const journal = new JournalWriter({
        id,
        records: recordsOf(id, row),
        bytes: row.log.reduce((sum, { body }) => sum + body.length, 0),
        sink: {
          async commit(records) {
            if (!isOurs()) throw sessionFenced(id) // in a database: part of the same statement
            row.log.push(...records)
          },
          async release() {
            if (isOurs()) row.owner = undefined
          },
        },
      })
      row.owner = { name: options.owner, journal }
      for (const note of row.notes.values()) journal.deliver(JSON.parse(note))
      return journal
    },
    async *read(id) {
      yield* recordsOf(id, find(id))
    },
    async *list(filter) {
      for (const [id, row] of rows) {
        const state = bodiesOf(row).reduce(stateAfter, newSessionState)
        const status = statusOf(state, row.owner !== undefined)
        const [createdAt = 0, updatedAt = 0] = [row.log[0]?.at, row.log.at(-1)?.at]
        const outer = outerIn(bodiesOf(row)[0])
        const summary = { id, status, records: row.log.length, createdAt, updatedAt, owner: row.owner?.name, outer }
        if (filter?.status?.includes(status) ?? true) yield { ...summary, questions: [...state.questions.keys()] }
      }
    },
    async post(id, note) {
      checkNote(note)
      const row = find(id)
      const key = keyOf(note)
      const { questions } = bodiesOf(row).reduce(stateAfter, newSessionState)
      if (row.notes.has(key) || (note.type === 'answer' && !questions.has(key))) return 'stale'
      row.notes.set(key, JSON.stringify(note)) // in a database: insert if absent
      row.owner?.journal.deliver(note)
      return 'accepted'
    },
    async remove(id) {
      rows.delete(id)
      for (const [inner, row] of rows) if (outerIn(bodiesOf(row)[0]) === id) await this.remove(inner)
    },
  }
}

// in a test file, pass `describe` and `it` of your test framework
const rules: [string, () => Promise<void>][] = []
describeJournalStore(() => ({ store: mapJournals() }), {
  describe: (_, body) => body(),
  it: (name, rule) => rules.push([name, rule]),
})
for (const [name, rule] of rules) await rule().catch((error) => console.log(name, error))
console.log(`${rules.length} rules checked`)
