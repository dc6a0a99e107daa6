import { Redis, type RedisOptions } from 'ioredis'
import { SignalboxError } from 'signalbox'
import type { JournalStore } from 'signalbox/durable'
import type { BodyOutcome, RemoteTool } from 'signalbox/remote'

/** The connection to Redis, and the names of queues in it. */
export interface EngineOptions {
  /** A URL such as `redis://127.0.0.1:6379`, or the options of ioredis. Redis 7 or newer, or Valkey. */
  readonly connection: string | RedisOptions
  /**
   * The beginning of all keys.
   * @default 'signalbox'
   */
  readonly prefix?: string | undefined
  /** Told of problems that cost no result. By default they go to `process.emitWarning`. */
  readonly onWarning?: ((warning: EngineWarning) => void) | undefined
}

export interface EngineWarning {
  /** `session_failed`: `serveSessions` gave a session up until something is posted to it. */
  readonly code: 'engine_not_durable' | 'engine_error' | 'session_failed'
  readonly message: string
  readonly error?: unknown
}

/** One body, as it is sent. */
export interface ToolJob {
  readonly tool: RemoteTool
  readonly toolUseID: string
  readonly input: unknown
  readonly context: Readonly<Record<string, unknown>>
  readonly again: boolean
  readonly abortGraceMs: number
  /** Redis lost the first job of the call. */
  readonly isAddedAgain?: true | undefined
}

/** What a worker says of a job at its end. */
export interface ToolAnswer {
  readonly outcome: BodyOutcome
  readonly worker: string
}

/** Progress has a number, so that an old report that arrives late is dropped. */
export interface NumberedProgress {
  readonly n: number
  readonly data: unknown
}

export const retentionSeconds = 24 * 60 * 60
/** BullMQ may wait for ever for a Redis that is away. */
export const closeMs = 2_000
const engineKeys = ['connection', 'prefix', 'onWarning']

export const queueOf = (label: string): string => `tools-${label}`
export const jobIdOf = (key: string): string => `call-${key}`
export const markerOf = (prefix: string, label: string, id: string): string => `${prefix}:${queueOf(label)}:abort:${id}`
export const abortChannel = (prefix: string, label: string): string => `${prefix}:${queueOf(label)}:aborts`

export type ConnectionOptions = RedisOptions & { replyMapping?: never }

/** A connection that waits for Redis to come back, however long that takes. */
export function connect(
  connection: EngineOptions['connection'],
  onError: (error: Error) => void,
  change: ConnectionOptions = {},
): Redis {
  const options: ConnectionOptions = {
    maxRetriesPerRequest: null,
    // packets may vanish without a word; commands that wait on purpose wait for 10 s
    socketTimeout: 30_000,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
    // after a failover the address leads to another server
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...change,
  }
  const redis =
    typeof connection === 'string'
      ? new Redis(connection, options)
      : new Redis({ ...connection, ...options } as ConnectionOptions)
  redis.on('error', onError)
  return redis
}

/**
 * Commands that are sent at about the same time go to the socket in one write, except the first: with many calls in flight,
 * a write for each would be the largest part of their cost.
 */
export function joinWrites(redis: Redis): Redis {
  return redis.on('connect', () => {
    const { stream } = redis
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
    let state: 'resting' | 'written' | 'held' = 'resting'
    const release = (): void => {
      if (state === 'held') stream.uncork()
      state = 'resting'
    }
    stream.write = (...args: unknown[]): boolean => {
      if (state === 'resting') {
        state = 'written'
        setImmediate(release)
      } else if (state === 'written') {
        state = 'held'
        stream.cork()
      }
      return write(...args)
    }
  })
}

export function checkEngine(options: EngineOptions, ownKeys: readonly string[]): void {
  const known = [...engineKeys, ...ownKeys]
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) invalid(`Unknown option ${key}. Known options: ${known.join(', ')}.`)
  }
  const { connection, prefix } = options
  const isUrl = typeof connection === 'string' && /^rediss?:\/\//.test(connection)
  const isOptions = typeof connection === 'object' && connection !== null
  if (!isUrl && !isOptions) {
    invalid(
      `connection: expected the URL of a Redis server (redis:// or rediss://) or options of ioredis, received ${JSON.stringify(connection)}. Other engines of BullMQ are not supported: the one for PostgreSQL loses events.`,
    )
  }
  if (isOptions && connection.keyPrefix) invalid('connection: keyPrefix is not supported. Use the option prefix.')
  if (prefix !== undefined && !/^[\w-]+$/.test(prefix))
    invalid(`prefix: expected letters, digits, _ and -, received ${JSON.stringify(prefix)}.`)
}

export function checkLabel(option: string, label: unknown): void {
  if (typeof label !== 'string' || !/^[\w.-]+$/.test(label)) {
    invalid(`${option}: expected a name of letters, digits, _, - and ., received ${JSON.stringify(label)}.`)
  }
}

export function checkJournals(journals: unknown): void {
  if (typeof (journals as Partial<JournalStore> | undefined)?.open === 'function') return
  invalid('journals: expected a journal store, such as redisJournals({ connection }).')
}

/** For what Redis keeps the time of: it takes whole milliseconds. */
export function checkWholeMs(option: string, ms: unknown, least: number): void {
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= least && ms < 2 ** 31) return
  invalid(`${option}: expected whole milliseconds, from ${least} to ${2 ** 31 - 1}, received ${shown(ms)}.`)
}

export function checkMs(option: string, ms: unknown): void {
  if (typeof ms === 'number' && ms >= 0) return
  invalid(`${option}: expected milliseconds, received ${shown(ms)}.`)
}

/** JSON has neither NaN nor Infinity. */
const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value))

function invalid(message: string): never {
  throw new SignalboxError('invalid_option', message)
}

export type Warn = (warning: EngineWarning) => void

export const warnerOf = ({ onWarning }: EngineOptions): Warn =>
  onWarning ?? (({ message, code }) => process.emitWarning(message, { code, type: 'SignalboxWarning' }))

/** Connections report the same error again and again while Redis is away. */
export function onceInAWhile(warn: Warn, what: string): (error: Error) => void {
  let last = ''
  return (error) => {
    if (error.message === last) return
    last = error.message
    warn({ code: 'engine_error', message: `${what}: ${error.message}`, error })
  }
}

/** What a Redis that forgets the last second would cost. */
const losses = {
  calls: 'that a worker took a call, so that its body could begin a second time',
  runs: 'that a run was queued, so that its session would wait until something is posted to it',
  records: 'that a call began, so that its body could begin a second time, and results that were shown',
}

/** Replies of a cluster to a script whose keys are on several of its servers. */
const ofCluster = /^(CROSSSLOT|MOVED|CLUSTERDOWN)\b/

export const isOfCluster = (error: unknown): boolean => error instanceof Error && ofCluster.test(error.message)

export const clusterRefused = (): SignalboxError =>
  new SignalboxError(
    'invalid_option',
    'connection: Redis Cluster is not supported. Use a Redis without cluster mode (cluster-enabled no).',
  )

/** Warns if Redis may forget what it has acknowledged. Rejects if it is part of a cluster. */
export async function checkDurability(redis: Redis, warn: Warn, what: keyof typeof losses = 'calls'): Promise<void> {
  const settings = async (name: string): Promise<string | undefined> =>
    ((await redis.config('GET', name)) as string[])[1]
  const problems: string[] = []
  let isCluster = false
  try {
    isCluster = (await settings('cluster-enabled')) === 'yes'
    const policy = await settings('maxmemory-policy')
    if (policy !== 'noeviction') problems.push(`maxmemory-policy is ${policy}, and should be noeviction`)
    const appendfsync = await settings('appendfsync')
    if ((await settings('appendonly')) !== 'yes') problems.push('appendonly is off, and should be on')
    else if (appendfsync !== 'always') {
      const lost = appendfsync === 'everysec' ? 'the last second' : 'everything that its disk has not yet'
      problems.push(
        `appendfsync is ${appendfsync}, and should be always: a crash may lose ${lost}, for example ${losses[what]}`,
      )
    }
  } catch (error) {
    problems.push(`its settings cannot be read (${error instanceof Error ? error.message : error})`)
  }
  if (isCluster) throw clusterRefused()
  if (problems.length > 0) {
    warn({ code: 'engine_not_durable', message: `Redis may lose ${what}: ${problems.join('; ')}.` })
  }
}
