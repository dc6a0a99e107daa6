import {
  type JournalSink,
  type PendingRecord,
  type SessionState,
  sessionFenced,
  stateAfterBodies,
} from 'signalbox/durable'
import type { Database } from './database.ts'
import { hashOf } from './hash-of.ts'
import type { ClientLike } from './options.ts'

/** The questions of a state and the calls that ask them, as one text. */
export const questionsText = ({ questions }: SessionState): string => JSON.stringify([...questions])

export const stateOf = (status: unknown, questions: unknown): SessionState => ({
  status: status as SessionState['status'],
  questions: new Map(JSON.parse(String(questions))),
})

/** The log of a session that this process owns. */
export class SessionLog implements JournalSink {
  readonly #database: Database
  readonly #id: string
  readonly #session: string
  readonly #token: string
  readonly #onRelease: () => Promise<void>
  #records: number
  #state: SessionState

  constructor(
    database: Database,
    id: string,
    token: string,
    records: number,
    state: SessionState,
    onRelease: () => Promise<void>,
  ) {
    this.#database = database
    this.#id = id
    this.#session = hashOf(id)
    this.#token = token
    this.#records = records
    this.#state = state
    this.#onRelease = onRelease
  }

  async commit(batch: readonly PendingRecord[]): Promise<void> {
    const state = stateAfterBodies(
      this.#state,
      batch.map(({ body }) => body),
    )
    await this.#database.run(async (client, isAgain) => {
      if (isAgain && (await this.#isCommitted(client, batch.length))) return
      const { rowCount } = await client.query(this.#statement(batch, state))
      // a first run whose answer was lost may have taken effect only now
      const isThere = rowCount === batch.length || (isAgain && (await this.#isCommitted(client, batch.length)))
      if (!isThere) throw sessionFenced(this.#id)
    })
    this.#records += batch.length
    this.#state = state
  }

  async release(): Promise<void> {
    const { schema } = this.#database
    // before the token is gone, or the owner would take itself for another one
    await this.#onRelease()
    try {
      const text = `update ${schema}.sessions set owner = null, token = null, lock = null where session = $1 and token = $2`
      await this.#database.once((client) => client.query({ text, values: [this.#session, this.#token] }))
    } catch {
      // without its lock, the session counts as having no owner
    }
  }

  /** One statement for the records, the state and the copied notes. It changes nothing if there is a new owner. */
  #statement(batch: readonly PendingRecord[], state: SessionState): Parameters<ClientLike['query']>[0] {
    const { schema } = this.#database
    const notes = batch.flatMap(({ body }) => (body.includes('"note"') ? noteIn(body) : []))
    const hasNotes = notes.length > 0
    const bytes = batch.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    // arrays of one take longer than plain values
    const one = batch.length === 1 ? batch[0] : undefined
    return {
      ...this.#database.prepared(`commit-${one ? 'one-' : ''}${hasNotes ? 'notes-' : ''}`),
      text: `with owned as (
          update ${schema}.sessions
          set records = records + $4, bytes = bytes + $5, status = $6, questions = $7, updated_at = $8, touched = now()
          where session = $1 and token = $2 and records = $3
          returning session
        )${hasNotes ? copied(schema) : ''}
        insert into ${schema}.records (session, n, at, body)
        ${one ? oneRecord : allRecords}`,
      values: [
        ...[this.#session, this.#token, this.#records, batch.length, bytes, state.status, questionsText(state)],
        batch.at(-1)?.at,
        ...(one ? [one.n, one.at, one.body] : columnsOf(batch)),
        ...(hasNotes ? [notes] : []),
      ],
    }
  }

  /** Whether a statement took effect although its answer was lost. */
  async #isCommitted(client: ClientLike, added: number): Promise<boolean> {
    const { rows } = await client.query({
      text: `select records, token from ${this.#database.schema}.sessions where session = $1`,
      values: [this.#session],
    })
    return rows[0]?.token === this.#token && rows[0]?.records === this.#records + added
  }
}

const oneRecord = 'select owned.session, $9::integer, $10::bigint, $11::text from owned'

const allRecords = `select owned.session, new.n, new.at, new.body
        from owned, unnest($9::integer[], $10::bigint[], $11::text[]) as new (n, at, body)`

const columnsOf = (batch: readonly PendingRecord[]): unknown[][] => [
  batch.map(({ n }) => n),
  batch.map(({ at }) => at),
  batch.map(({ body }) => body),
]

/** Only few commits have notes, and an update of none still takes its time. */
const copied = (schema: string): string => `, copied as (
          update ${schema}.notes set is_copied = true
          from owned where notes.session = owned.session and key = any($12::text[])
        )`

function noteIn(body: string): string[] {
  const { note } = JSON.parse(body)
  return typeof note === 'string' ? [hashOf(note)] : []
}
