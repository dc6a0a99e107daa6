import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type ConnectionOptions, clusterRefused, connect, type EngineOptions, isOfCluster } from '../engine.ts'
import type { Script } from './scripts.ts'

/** Replies of a server that is loading, failing over, or out of disk or memory. */
const passing = /^(LOADING|READONLY|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|MISCONF|OOM)\b/

/** Whether the same command may succeed later. An error that Redis itself did not send is one of the connection. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof Error) || error.name !== 'ReplyError' || passing.test(error.message)

/** A command fails with its connection, and is sent again here: the caller knows for how long. */
const ownRetries: ConnectionOptions = { maxRetriesPerRequest: 0, enableOfflineQueue: false, socketTimeout: 10_000 }

/** Runs commands, and retries while Redis is unreachable. */
export class Database {
  readonly redis: Redis
  /** The beginning of the keys of all sessions. */
  readonly base: string
  readonly #retryMs: number
  readonly #hashes = new Map<Script, string>()

  constructor({ connection, prefix = 'signalbox' }: EngineOptions, retryMs: number, onError: (error: Error) => void) {
    this.redis = connect(connection, onError, ownRetries)
    this.base = `${prefix}:session:`
    this.#retryMs = retryMs
  }

  get index(): string {
    return `${this.base.slice(0, -1)}s`
  }

  key(session: string, part?: string): string {
    return part === undefined ? this.base + session : `${this.base}${session}:${part}`
  }

  /** Runs `work` again if the connection breaks: it must have the same effect if its first run was complete. */
  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const start = performance.now()
    for (let attempt = 0; ; attempt++) {
      try {
        return await work(this.redis)
      } catch (error) {
        if (isOfCluster(error)) throw clusterRefused()
        const pause = Math.min(20 * 2 ** attempt, 500)
        const isOver = this.redis.status === 'end' || performance.now() - start + pause > this.#retryMs
        if (!isPassing(error) || isOver) throw error
        await wait(pause)
      }
    }
  }

  script(script: Script, ...args: (string | number)[]): Promise<unknown> {
    return this.run(() => this.once(script, ...args))
  }

  async once(script: Script, ...args: (string | number)[]): Promise<unknown> {
    const known = this.#hashes.get(script)
    const hash = known ?? createHash('sha1').update(script.text).digest('hex')
    this.#hashes.set(script, hash)
    try {
      return await this.redis.evalsha(hash, script.keys, ...args)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return await this.redis.eval(script.text, script.keys, ...args)
    }
  }
}

/** A short key for any text: ids may be long and may contain characters that are no UTF-8. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
