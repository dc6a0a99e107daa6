import type { JournalWriter } from 'signalbox/durable'
import type { Database } from './database.ts'
import { hashOf } from './hash-of.ts'

/** Delivers the notes of a session to its owner, in order. */
export class NoteReader {
  readonly #database: Database
  readonly #journal: JournalWriter
  readonly #seen = new Set<string>()
  #isHinted = false
  #isBusy = false
  isOver = false

  constructor(database: Database, journal: JournalWriter) {
    this.#database = database
    this.#journal = journal
  }

  /** Reads the notes now, and once more if they change meanwhile. Never rejects: the next poll tries again. */
  async look(): Promise<void> {
    this.#isHinted = true
    if (this.#isBusy) return
    this.#isBusy = true
    while (this.#isHinted && !this.isOver) {
      this.#isHinted = false
      await this.#read().catch(() => undefined)
    }
    this.#isBusy = false
  }

  async #read(): Promise<void> {
    const text = `select key, body from ${this.#database.schema}.notes
      where session = $1 and not is_copied and not key = any($2::text[]) order by place`
    const { rows } = await this.#database.query(text, [hashOf(this.#journal.id), [...this.#seen]])
    for (const { key, body } of rows) {
      this.#seen.add(String(key))
      if (!this.isOver) this.#journal.deliver(JSON.parse(String(body)))
    }
  }
}
