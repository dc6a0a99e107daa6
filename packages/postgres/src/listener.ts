import type { Database } from './database.ts'
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
    if (this.#sessions.size === 0) return this.#end()
    await this.#client
      ?.query({ text: 'select pg_advisory_unlock_shared($1, $2)', values: [lockClass, listening.lock] })
      .catch(() => undefined)
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
      const lost = client
      client.on('error', () => this.#lose(lost))
      client.on('end', () => this.#lose(lost))
      client.on('notification', (message) => this.hint(String((message as { payload?: unknown }).payload)))
      await client.query({ text: `listen ${this.#channel}` })
      for (const all of this.#sessions.values()) for (const each of all) await this.#lock(client, each)
      this.#client = client
    } catch {
      // the next poll tries again
      client?.release(true)
    }
  }

  async #lock(client: ClientLike, { lock }: Listening): Promise<void> {
    await client
      .query({ text: 'select pg_try_advisory_lock_shared($1, $2)', values: [lockClass, lock] })
      .catch(() => this.#lose(client))
  }

  #lose(client: ClientLike): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.release(true)
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    const client = this.#client
    this.#client = undefined
    client?.release(true)
  }
}
