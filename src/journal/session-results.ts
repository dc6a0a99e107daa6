import { isSignalboxError } from '../base/signalbox-error.ts'
import type { JournalRecord, JournalStore } from './journal.ts'

/** A store of long results that sessions refer to, such as `fileResultStore`. */
export interface StoredResults {
  /** Before it removes old results, it asks for the names to keep; undefined: all of them. */
  keepFor(names: () => Promise<ReadonlySet<string> | undefined>): void
  /** The names of its results that occur in a text. */
  namesIn(text: string): string[]
  remove(names: readonly string[]): Promise<void>
}

/** The stored results that the sessions of a store refer to. They are kept as long as one of these sessions. */
export class SessionResults {
  readonly #store: Pick<JournalStore, 'list' | 'read'>
  readonly #results: StoredResults | undefined

  constructor(store: Pick<JournalStore, 'list' | 'read'>, results: StoredResults | undefined) {
    this.#store = store
    this.#results = results
    results?.keepFor(() => this.#mentioned())
  }

  /** Those of a session and of the agents inside it. Ask before the session is removed. */
  async namesOf(id: string): Promise<string[]> {
    const names: string[] = []
    if (this.#results === undefined) return names
    const agents: string[] = []
    for await (const record of readable(this.#store.read(id))) {
      names.push(...this.#namesIn(record))
      if (record.t === 'agent.started' && typeof record.session === 'string') agents.push(record.session)
    }
    for (const agent of agents) names.push(...(await this.namesOf(agent)))
    return names
  }

  /** The same result in two sessions is kept once. */
  async removeUnused(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const used = await this.#mentioned()
    await this.#results?.remove(names.filter((name) => used?.has(name) === false))
  }

  /** Undefined if a session cannot be read: it may refer to any result. */
  async #mentioned(): Promise<Set<string> | undefined> {
    const names = new Set<string>()
    try {
      for await (const { id } of this.#store.list())
        for await (const record of unlessGone(this.#store.read(id)))
          for (const name of this.#namesIn(record)) names.add(name)
      return names
    } catch {
      return undefined
    }
  }

  #namesIn(record: JournalRecord): string[] {
    return this.#results?.namesIn(JSON.stringify(record)) ?? []
  }
}

/** The records before the first that cannot be read. */
async function* readable(records: AsyncIterable<JournalRecord>): AsyncGenerator<JournalRecord> {
  try {
    yield* records
  } catch {
    // what the rest refers to is removed when it is old
  }
}

/** A session may be removed while it is read. */
async function* unlessGone(records: AsyncIterable<JournalRecord>): AsyncGenerator<JournalRecord> {
  try {
    yield* records
  } catch (error) {
    if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
  }
}
