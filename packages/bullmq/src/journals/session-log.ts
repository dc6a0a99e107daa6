import { SignalboxError } from 'signalbox'
import {
  type JournalRecord,
  type JournalSink,
  type PendingRecord,
  type SessionState,
  sessionFenced,
  stateAfterBodies,
} from 'signalbox/durable'
import { type Database, hashOf } from './database.ts'
import { commitScript, releaseScript } from './scripts.ts'

/** The questions of a state and the calls that ask them, as one text. */
export const questionsText = ({ questions }: SessionState): string => JSON.stringify([...questions])
/** The open questions, as a script can look for one. */
export const openText = ({ questions }: SessionState): string => [...questions.keys()].map(hashOf).join(' ')

const isRunning = ({ status }: SessionState): boolean => status === 'running'

export interface OpenedJournal {
  readonly records: JournalRecord[]
  readonly bytes: number
  readonly state: SessionState
}

/** The log of a session that this process owns. */
export class SessionLog implements JournalSink {
  readonly #database: Database
  readonly #id: string
  readonly #session: string
  readonly #token: string
  readonly #onRelease: () => void
  #records: number
  #state: SessionState

  constructor(database: Database, id: string, token: string, opened: OpenedJournal, onRelease: () => void) {
    this.#database = database
    this.#id = id
    this.#session = hashOf(id)
    this.#token = token
    this.#records = opened.records.length
    this.#state = opened.state
    this.#onRelease = onRelease
  }

  async commit(batch: readonly PendingRecord[]): Promise<void> {
    const database = this.#database
    const bodies = batch.map(({ body }) => body)
    const state = stateAfterBodies(this.#state, bodies)
    // the time of the last write matters for a session that is idle
    const isSame = isRunning(state) && isRunning(this.#state) && state.questions === this.#state.questions
    const notes = bodies.flatMap((body) => (body.includes('"note"') ? noteIn(body) : []))
    const told = await database.script(
      commitScript,
      ...[database.key(this.#session), database.key(this.#session, 'log')],
      ...[database.key(this.#session, 'bodies'), database.key(this.#session, 'inbox')],
      ...[
        this.#token,
        this.#records,
        ...(isSame ? ['', '', ''] : [state.status, questionsText(state), openText(state)]),
      ],
      ...[notes.length, ...notes],
      ...batch.flatMap(({ at, body }) => [at, body]),
    )
    if (told === 'fenced') throw sessionFenced(this.#id)
    if (told !== 'done') throw recordsLost(this.#id, Number(told), this.#records)
    this.#records += batch.length
    this.#state = state
  }

  async release(): Promise<void> {
    const keys = [this.#database.key(this.#session), this.#database.key(this.#session, 'alive')]
    this.#onRelease()
    // if it fails, the session has no owner as soon as its lock runs out
    await this.#database.once(releaseScript, ...keys, this.#token).catch(() => undefined)
  }
}

const recordsLost = (id: string, has: number, acknowledged: number): SignalboxError =>
  new SignalboxError(
    'journal_error',
    `The journal of session ${id} has ${has} records, but Redis acknowledged ${acknowledged}. It lost some in a crash or a failover. Nothing was written. Open the session again to continue from what is left.`,
  )

function noteIn(body: string): string[] {
  const { note } = JSON.parse(body)
  return typeof note === 'string' ? [hashOf(note)] : []
}
