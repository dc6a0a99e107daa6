import type { Redis } from 'ioredis'
import { type JournalWriter, NoteInbox, type StoredNote, sessionFenced } from 'signalbox/durable'
import { connect, type EngineOptions } from '../engine.ts'
import { type Database, hashOf } from './database.ts'
import { renewScript } from './scripts.ts'

/**
 * One connection for all open sessions of a store. It is told of new notes, and renews the locks that show other
 * processes that the owner is alive. Both are hints: without them nothing is lost.
 */
export class NoteListener {
  readonly #database: Database
  readonly #lockMs: number
  readonly #connect: () => Redis
  readonly #open = new Set<OpenInbox>()
  #redis: Redis | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(database: Database, lockMs: number, { connection }: EngineOptions, onError: (error: Error) => void) {
    this.#database = database
    this.#lockMs = lockMs
    this.#connect = () => connect(connection, onError)
  }

  /** Delivers the notes that are there, or rejects; later ones as they come. */
  async add(inbox: OpenInbox): Promise<void> {
    this.#open.add(inbox)
    this.#timer ??= setInterval(() => this.#renew(), Math.min(this.#lockMs / 3, 2_000)).unref()
    this.#redis ??= this.#connect().on('message', (channel) => {
      for (const each of this.#open) if (each.channel === channel) void each.look()
    })
    // what was posted before the subscription is read after it
    this.#redis.subscribe(inbox.channel).then(
      () => inbox.look(),
      () => undefined,
    )
    await inbox.lookFirst()
  }

  remove(inbox: OpenInbox): void {
    inbox.isOver = true
    this.#open.delete(inbox)
    if (this.#open.size === 0) return this.end()
    if (![...this.#open].some(({ channel }) => channel === inbox.channel))
      this.#redis?.unsubscribe(inbox.channel).catch(() => undefined)
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#redis?.disconnect()
    this.#redis = undefined
  }

  #renew(): void {
    for (const inbox of this.#open) {
      const { session, token } = inbox
      const keys = [this.#database.key(session), this.#database.key(session, 'alive')]
      this.#database.once(renewScript, ...keys, token, this.#lockMs).catch(() => undefined)
      void inbox.look()
    }
  }
}

/** The inbox of an open session, with what Redis needs to find it and to know its owner. */
export class OpenInbox extends NoteInbox {
  readonly session: string
  readonly token: string
  readonly channel: string

  constructor(database: Database, journal: JournalWriter, token: string) {
    const session = hashOf(journal.id)
    super(journal, (seen) => newNotes(database, journal.id, token, seen))
    this.session = session
    this.token = token
    this.channel = database.key(session, 'inbox')
  }
}

async function newNotes(
  database: Database,
  id: string,
  token: string,
  seen: ReadonlySet<string>,
): Promise<StoredNote[]> {
  const session = hashOf(id)
  const [owner, keys] = await database.run((redis) =>
    Promise.all([redis.hget(database.key(session), 'token'), redis.lrange(database.key(session, 'inbox'), 0, -1)]),
  )
  if (owner !== token) throw sessionFenced(id)
  const fresh = keys.filter((key) => !seen.has(key))
  if (fresh.length === 0) return []
  const bodies = await database.run((redis) => redis.hmget(database.key(session, 'bodies'), ...fresh))
  // a note without a body was copied meanwhile, by another owner
  return fresh.flatMap((key, place) => {
    const body = bodies[place]
    return typeof body === 'string' ? [[key, body] as const] : []
  })
}
