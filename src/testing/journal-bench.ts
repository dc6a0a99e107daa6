import { isSignalboxError } from '../base/signalbox-error.ts'
import type {
  Journal,
  JournalRecord,
  JournalStore,
  NewRecord,
  OpenJournalOptions,
  SessionNote,
  SessionSummary,
} from '../journal/journal.ts'

export interface StoreUnderTest {
  readonly store: JournalStore
  /**
   * Another store on the same data, as another process has it.
   * @default the same store
   */
  another?(): JournalStore | Promise<JournalStore>
  /** Called when the test has ended. */
  end?(): void | Promise<void>
}

/** Makes an empty store for one test. */
export type MakeJournalStore = () => StoreUnderTest | Promise<StoreUnderTest>

/** One store under test, and journals that are closed when the test ends. */
export class JournalBench {
  readonly store: JournalStore
  /** What happens when a second owner opens a session. */
  readonly secondOwner: 'fences' | 'locked'
  readonly #given: StoreUnderTest
  readonly #opened: Journal[] = []
  #another: JournalStore | undefined

  constructor(given: StoreUnderTest, secondOwner: 'fences' | 'locked') {
    this.#given = given
    this.store = given.store
    this.secondOwner = secondOwner
  }

  async another(): Promise<JournalStore> {
    this.#another ??= (await this.#given.another?.()) ?? this.store
    return this.#another
  }

  async open(
    mode: OpenJournalOptions['mode'],
    owner = 'one',
    store = this.store,
    id = 's',
    agent: Pick<OpenJournalOptions, 'created' | 'within'> = {},
  ): Promise<Journal> {
    const journal = await store.open(id, { owner, mode, ...agent })
    this.#opened.push(journal)
    return journal
  }

  /** A session with these records that nobody owns. */
  async closed(...records: readonly NewRecord[]): Promise<void> {
    const journal = await this.open('either')
    for (const record of records) journal.append(record)
    await journal.close()
  }

  async read(id = 's', store = this.store): Promise<JournalRecord[]> {
    return collect(store.read(id))
  }

  /** The records without those that opening wrote, and without numbers and times. */
  async written(id = 's', store = this.store): Promise<NewRecord[]> {
    const records = await this.read(id, store)
    return records
      .filter(({ t }) => t !== 'session.created' && t !== 'session.opened')
      .map(({ n: _n, at: _at, ...record }) => record)
  }

  async listed(status?: SessionSummary['status'][]): Promise<SessionSummary[]> {
    const found = await collect(this.store.list(status && { status }))
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  async end(): Promise<void> {
    for (const journal of this.#opened) await journal.close().catch(() => undefined)
    await this.#given.end?.()
  }
}

/** The code with which a promise rejects; otherwise what happened instead. */
export async function codeOf(promise: Promise<unknown> | undefined): Promise<string> {
  try {
    await promise
    return 'no error'
  } catch (error) {
    return isSignalboxError(error) ? error.code : `another error: ${error}`
  }
}

/** All notes of a journal's listener, and a function that waits for one. */
export function hearing(journal: Journal): { readonly notes: SessionNote[]; until(count: number): Promise<void> } {
  const notes: SessionNote[] = []
  let wake = (): void => undefined
  journal.onNote((note) => {
    notes.push(note)
    wake()
  })
  const until = async (count: number): Promise<void> => {
    while (notes.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  return { notes, until }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
