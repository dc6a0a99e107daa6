import { SignalboxError } from 'signalbox'
import type { JournalLimits, StoredResults } from 'signalbox/durable'

/** The result of a query. */
export interface Rows {
  readonly rows: Record<string, unknown>[]
  readonly rowCount: number | null
}

export interface ClientLike {
  query(query: { text: string; values?: unknown[]; name?: string }): Promise<Rows>
  on(event: string, listener: (value: unknown) => void): unknown
  removeListener(event: string, listener: (value: unknown) => void): unknown
  release(error?: boolean | Error): void
}

/** The parts of a `Pool` of pg that the store uses. */
export interface PoolLike {
  connect(): Promise<ClientLike>
  on(event: 'error', listener: (error: Error) => void): unknown
  readonly options?: { readonly max?: number | undefined }
}

export interface PostgresJournalsOptions {
  /** A `Pool` of pg with at least two connections. While sessions are open, one of them listens for notes. */
  readonly pool?: PoolLike | undefined
  /** The address of the database, instead of `pool`. `end()` closes the connections. */
  readonly connectionString?: string | undefined
  /**
   * The schema for the tables. Created if it does not exist.
   * @default 'signalbox'
   */
  readonly schema?: string | undefined
  /**
   * How long to retry a database that does not answer, before the journal fails.
   * @default 30_000
   */
  readonly retryMs?: number | undefined
  /**
   * How often an owner polls for notes, in case a notification is lost. At least 1,000.
   * @default 2_000
   */
  readonly rescanMs?: number | undefined
  readonly limits?: JournalLimits | undefined
  /** The store of long results that sessions refer to. It keeps them as long as their session. */
  readonly results?: StoredResults | undefined
}

const names = ['pool', 'connectionString', 'schema', 'retryMs', 'rescanMs', 'limits', 'results']
const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

export function checkOptions(options: PostgresJournalsOptions): void {
  const { pool, connectionString, schema = 'signalbox', retryMs = 0, rescanMs = 2_000 } = options
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) refuse(`Unknown option ${unknown}. Known options: ${names.join(', ')}.`)
  if ((pool === undefined) === (connectionString === undefined)) refuse('Pass either pool or connectionString.')
  if (pool !== undefined && typeof pool.connect !== 'function') refuse('pool: expected a Pool of pg.')
  if (pool?.options?.max === 1) refuse('pool: expected at least 2 connections (max), because one of them listens.')
  if (connectionString !== undefined && (typeof connectionString !== 'string' || connectionString === ''))
    refuse(`connectionString: expected the address of a database, received ${JSON.stringify(connectionString)}.`)
  if (!identifier.test(schema)) refuse(`schema: expected letters, digits and _, received ${JSON.stringify(schema)}.`)
  if (typeof retryMs !== 'number' || !(retryMs >= 0))
    refuse(`retryMs: expected milliseconds, received ${shown(retryMs)}.`)
  if (typeof rescanMs !== 'number' || !(rescanMs >= 1_000 && rescanMs < 2 ** 31))
    refuse(`rescanMs: expected milliseconds from 1000 to ${2 ** 31 - 1}, received ${shown(rescanMs)}.`)
}

/** JSON has neither NaN nor Infinity. */
const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value))

function refuse(message: string): never {
  throw new SignalboxError('invalid_option', message)
}
