import { setTimeout as wait } from 'node:timers/promises'
import { hashOf } from './hash-of.ts'
import { migrate } from './migrations.ts'
import type { ClientLike, PoolLike, Rows } from './options.ts'

/**
 * SQLSTATEs of a server that is stopping, starting, out of connections or read-only since another one replaced it, of
 * conflicting and idle transactions, and of statements that were canceled because they took or waited too long.
 */
const passing = /^(08...|57P0.|57014|53300|25006|40001|40P01|25P03|55P03)$/
const systemErrors = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']
const lostConnection =
  /connection (terminated|ended|timeout|error)|timeout exceeded when trying to connect|not queryable/i

/** A prepared statement is there already, or is not there: a pooler gives each transaction another connection. */
const shared = /^(42P05|26000)$/

/** Whether the same statement may succeed later. */
export function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && (passing.test(code) || systemErrors.includes(code))) return true
  return typeof message === 'string' && lostConnection.test(message)
}

/** Runs statements, and retries while the database is unreachable. */
export class Database {
  readonly pool: PoolLike
  readonly schema: string
  readonly #retryMs: number
  readonly #mark: string
  #isReady: Promise<void> | undefined
  #canPrepare = true

  constructor(pool: PoolLike, schema: string, retryMs: number) {
    this.pool = pool
    this.schema = `"${schema}"`
    this.#mark = hashOf(schema).slice(0, 32)
    this.#retryMs = retryMs
    // a connection that breaks while nobody uses it must not end the process
    pool.on('error', () => undefined)
  }

  /**
   * Runs `work` on a client. If the connection breaks, `work` runs again with `isAgain`: it must then detect whether
   * its first run took effect.
   */
  async run<T>(work: (client: ClientLike, isAgain: boolean) => Promise<T>): Promise<T> {
    const start = performance.now()
    for (let attempt = 0; ; attempt++) {
      const couldPrepare = this.#canPrepare
      try {
        return await this.once((client) => work(client, attempt > 0))
      } catch (error) {
        if (couldPrepare && shared.test(String(Object(error).code))) {
          this.#canPrepare = false
          continue
        }
        const pause = Math.min(50 * 2 ** attempt, 1_000)
        if (!isPassing(error) || performance.now() - start + pause > this.#retryMs) throw error
        await wait(pause)
      }
    }
  }

  async query(text: string, values: unknown[] = []): Promise<Rows> {
    return this.run((client) => client.query({ text, values }))
  }

  /** The name under which the server prepares a statement. PostgreSQL takes up to 63 characters. */
  prepared(statement: string): { readonly name?: string } {
    return this.#canPrepare ? { name: `signalbox-${statement}${this.#mark}` } : {}
  }

  /** Creates the tables, once. */
  async ready(client: ClientLike): Promise<void> {
    this.#isReady ??= migrate(client, this.schema)
    try {
      await this.#isReady
    } catch (error) {
      this.#isReady = undefined
      throw error
    }
  }

  /** The same without another run. A connection that breaks while `work` uses it must not end the process. */
  async once<T>(work: (client: ClientLike) => Promise<T>): Promise<T> {
    const client = await this.pool.connect()
    const ignore = (): void => undefined
    client.on('error', ignore)
    let problem: unknown
    try {
      await this.ready(client)
      return await work(client)
    } catch (error) {
      problem = error
      throw error
    } finally {
      client.removeListener('error', ignore)
      // a broken client does not go back to the pool
      client.release(problem !== undefined && isPassing(problem))
    }
  }
}
