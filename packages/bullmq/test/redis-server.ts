import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'

/** The program of Redis or Valkey; undefined if neither is installed. */
export const findRedis = (): string | undefined =>
  ['redis-server', 'valkey-server']
    .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path))

/** A server of this test: on loopback, on a free port, in a temporary folder. */
export class RedisServer {
  readonly #program: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'signalbox-redis-'))
  readonly #port: number
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined

  private constructor(program: string, port: number, settings: readonly string[]) {
    this.#program = program
    this.#port = port
    this.#settings = settings
  }

  static async start(settings: readonly string[] = ['--appendonly', 'yes', '--appendfsync', 'always']) {
    const program = findRedis()
    if (program === undefined) throw new Error('Redis was not found. On Debian: apt-get install redis-server')
    const server = new RedisServer(program, await freePort(), settings)
    await server.run()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`
  }

  /** Starts the program and waits until it answers. */
  async run(): Promise<void> {
    const address = ['--bind', '127.0.0.1', '--port', String(this.#port), '--dir', this.#folder]
    this.#process = spawn(this.#program, [...address, '--save', '', ...this.#settings], { stdio: 'ignore' })
    await this.ask(async (redis) => {
      while ((await redis.ping().catch(() => 'loading')) !== 'PONG') await wait(20)
    })
  }

  /** Ends it as a crash would. */
  async crash(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  /** Copies everything from another server from now on. */
  async follow(leader: RedisServer): Promise<void> {
    await leader.ask((redis) => redis.config('SET', 'repl-diskless-sync-delay', '0'))
    await this.ask((redis) => redis.replicaof('127.0.0.1', leader.#port))
    await leader.waitForReplica()
  }

  /** Resolves when a replica has everything. */
  async waitForReplica(): Promise<void> {
    await this.ask(async (redis) => {
      // the count of replicas is 0 until one has loaded what was there before
      while ((await redis.wait(1, 1_000)) === 0) await redis.incr('waited')
    })
  }

  /** Ends the replication, with what has arrived so far. */
  async lead(): Promise<void> {
    await this.ask((redis) => redis.replicaof('NO', 'ONE'))
  }

  async ask<Value>(question: (redis: Redis) => Promise<Value>): Promise<Value> {
    const redis = new Redis(this.#port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 20 })
    redis.on('error', () => undefined)
    try {
      return await question(redis)
    } finally {
      redis.disconnect()
    }
  }

  async end(): Promise<void> {
    await this.crash()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
