import { type Database, isPassing } from './database.ts'
import type { ClientLike } from './options.ts'

/** The first key of this store's advisory locks; the second key identifies one opening of a session. */
export const lockClass = 1_936_289_388

interface Listening {
  readonly lock: number
  /** Polls for notes. */
  look(): void
}

/**
 * One connection for all open sessions of a store. It is notified of new notes, and holds a lock per session that
 * shows other processes that the owner is alive. Both are hints: without the connection nothing is lost.
 */
export class Listener {
  readonly #database: Database
  readonly #channel: string
  readonly #rescanMs: number
  readonly #sessions = new Map<string, Set<Listening>>()
  #client: ClientLike | undefined
  /** The last statement of each connection: `pg` gives up its own queue. */
  readonly #statements = new WeakMap<ClientLike, Promise<unknown>>()
  #connecting: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(database: Database, channel: string, rescanMs: number) {
    this.#database = database
    this.#channel = channel
    this.#rescanMs = rescanMs
  }

  async add(session: string, listening: Listening): Promise<void> {
    const others = this.#sessions.get(session) ?? new Set()
    this.#sessions.set(session, others.add(listening))
    this.#timer ??= setInterval(() => void this.#rescan(), this.#rescanMs).unref()
    if (this.#client === undefined) await this.#connect()
    else await this.#lock(this.#client, listening)
  }

  async remove(session: string, listening: Listening): Promise<void> {
    const others = this.#sessions.get(session)
    others?.delete(listening)
    if (others?.size === 0) this.#sessions.delete(session)
    await this.#connecting
    if (this.#sessions.size === 0) return this.end()
    if (this.#client === undefined) return
    const unlock = { text: 'select pg_advisory_unlock_shared($1, $2)', values: [lockClass, listening.lock] }
    await this.#query(this.#client, unlock).catch(() => undefined)
  }

  /** Tells the owners in this store at once. */
  hint(session: string): void {
    for (const listening of this.#sessions.get(session) ?? []) listening.look()
  }

  async #rescan(): Promise<void> {
    if (this.#client === undefined) await this.#connect()
    for (const session of this.#sessions.keys()) this.hint(session)
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#tryConnect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #tryConnect(): Promise<void> {
    let client: ClientLike | undefined
    try {
      client = await this.#database.pool.connect()
      const connecting = { client, isLost: false }
      const lose = (): void => {
        connecting.isLost = true
        this.#lose(connecting.client)
      }
      client.on('error', lose)
      client.on('end', lose)
      client.on('notification', (message) => this.hint(String((message as { payload?: unknown }).payload)))
      await this.#query(client, { text: `listen ${this.#channel}` })
      for (const all of this.#sessions.values()) for (const each of all) await this.#lock(client, each)
      // nobody would connect again
      if (connecting.isLost) throw new Error('The connection was lost.')
      this.#client = client
    } catch {
      // the next poll tries again
      client?.release(true)
    }
  }

  /** If the server has no room for the lock, the other sessions keep theirs. */
  async #lock(client: ClientLike, { lock }: Listening): Promise<void> {
    const statement = { text: 'select pg_try_advisory_lock_shared($1, $2)', values: [lockClass, lock] }
    await this.#query(client, statement).catch((error: unknown) => {
      if (isPassing(error)) this.#lose(client)
    })
  }

  /** One statement at a time: sessions open and close side by side, on one connection. */
  #query(client: ClientLike, statement: Parameters<ClientLike['query']>[0]): Promise<unknown> {
    const before = this.#statements.get(client) ?? Promise.resolve()
    const done = before.then(() => client.query(statement))
    const settled = done.catch(() => undefined)
    this.#statements.set(client, settled)
    return done
  }

  #lose(client: ClientLike): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.release(true)
  }

  /** The sessions that are still open can use the pool only. */
  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    const client = this.#client
    this.#client = undefined
    client?.release(true)
  }
}
