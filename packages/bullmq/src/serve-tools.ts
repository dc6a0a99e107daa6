import { availableParallelism, hostname } from 'node:os'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { type ResultStore, SignalboxError } from 'signalbox'
import { type BodyRunner, bodiesInProcess, localRunner, type Seal, within } from 'signalbox/node'
import {
  abortChannel,
  checkDurability,
  checkEngine,
  checkLabel,
  closeMs,
  connect,
  type EngineOptions,
  joinWrites,
  onceInAWhile,
  queueOf,
  warnerOf,
} from './engine.ts'
import { jobWorker } from './job-worker.ts'
import { checkSeal, Envelope } from './seal.ts'
import { checkServing, closeAtSignals } from './serving.ts'
import { ToolJobs } from './tool-jobs.ts'

export interface ServeToolsOptions extends EngineOptions {
  /** The module that exports the tools: its path or its URL. Each body's process loads it. */
  readonly tools: string | URL
  /**
   * The labels of calls that this worker takes.
   * @default ['default']
   */
  readonly labels?: readonly string[] | undefined
  /**
   * How many bodies of each label run at once.
   * @default the number of processors
   */
  readonly concurrency?: number | undefined
  /**
   * Where bodies run. `'process'`: each in a child process, which may block, crash and be killed. `'worker'`: in the
   * process of the worker itself, which is faster, for short tools that never block.
   * @default 'process'
   */
  readonly bodies?: 'process' | 'worker' | undefined
  /**
   * How the inspector names this worker.
   * @default the host name and the process id
   */
  readonly name?: string | undefined
  /** Keeps results over 256 KiB. The hosts must be able to read what it stores. */
  readonly resultStore?: ResultStore | undefined
  /**
   * How long a worker that says nothing keeps its calls, in milliseconds.
   * @default 10_000
   */
  readonly lockMs?: number | undefined
  /**
   * How often workers look for calls of lost workers, in milliseconds.
   * @default 5_000
   */
  readonly checkMs?: number | undefined
  /**
   * How long `close` and SIGTERM wait for bodies, in milliseconds. Bodies that still run are killed.
   * @default 30_000
   */
  readonly drainMs?: number | undefined
  /**
   * Whether SIGTERM and SIGINT close the worker.
   * @default true
   */
  readonly handleSignals?: boolean | undefined
  /** The seal of the hosts. With it, the worker begins only what a host has sealed. */
  readonly seal?: Seal | undefined
  /** Arguments for the Node of bodies. */
  readonly execArgv?: readonly string[] | undefined
}

/** A worker that runs bodies for hosts. */
export interface ServedTools {
  readonly name: string
  /** The names of the tools that the module exports. */
  readonly tools: readonly string[]
  /** For a probe: whether Redis answers, whether it takes calls, and how many bodies run. */
  health(): { readonly isConnected: boolean; readonly isDraining: boolean; readonly running: number }
  /** Takes no more calls, waits for those that run, and ends. `killed`: the bodies that did not end within `drainMs`. */
  close(): Promise<{ readonly killed: number }>
}

const ownOptions = [
  'tools',
  'labels',
  'concurrency',
  'bodies',
  'name',
  'resultStore',
  'lockMs',
  'checkMs',
  'drainMs',
  'handleSignals',
  'execArgv',
  'seal',
]

/**
 * Serves tools to hosts that use `bullRunner`. Resolves when the worker takes calls.
 *
 * @example
 * await serveTools({ connection: 'redis://127.0.0.1:6379', tools: new URL('./tools.js', import.meta.url) })
 */
export async function serveTools(options: ServeToolsOptions): Promise<ServedTools> {
  checkEngine(options, ownOptions)
  const { labels = ['default'], concurrency = availableParallelism() } = options
  checkSeal(options.seal)
  for (const label of labels) checkLabel('labels', label)
  checkServing(options)
  const { bodies = 'process', execArgv } = options
  if (bodies !== 'process' && bodies !== 'worker') {
    throw new SignalboxError('invalid_option', `bodies: expected 'process' or 'worker', received ${String(bodies)}.`)
  }
  if (bodies === 'worker' && execArgv !== undefined) {
    throw new SignalboxError('invalid_option', "execArgv: bodies: 'worker' starts no process that could take it.")
  }
  const served = new ToolServer(options, labels, concurrency)
  try {
    await served.start()
  } catch (error) {
    await served.close()
    throw error
  }
  return served
}

class ToolServer implements ServedTools {
  readonly name: string
  tools: readonly string[] = []
  readonly #options: ServeToolsOptions
  readonly #prefix: string
  readonly #labels: readonly string[]
  readonly #redis: Redis
  readonly #subscriber: Redis
  readonly #bodies: BodyRunner
  readonly #jobs: ToolJobs
  readonly #workers: Worker[]
  #ignoreSignals = (): void => undefined
  #closing: Promise<{ killed: number }> | undefined
  #looks: ReturnType<typeof setInterval> | undefined

  constructor(options: ServeToolsOptions, labels: readonly string[], concurrency: number) {
    const onError = onceInAWhile(warnerOf(options), 'The connection of a worker to Redis failed')
    this.#options = options
    this.#labels = labels
    this.#prefix = options.prefix ?? 'signalbox'
    this.name = options.name ?? `${hostname()}:${process.pid}`
    this.#redis = joinWrites(connect(options.connection, onError))
    this.#subscriber = connect(options.connection, onError)
    const { tools, execArgv, bodies } = options
    this.#bodies =
      bodies === 'worker'
        ? bodiesInProcess({ tools })
        : localRunner({
            tools,
            maxProcesses: concurrency * labels.length,
            ...(execArgv !== undefined && { execArgv }),
          })
    this.#jobs = new ToolJobs({
      bodies: this.#bodies,
      envelope: new Envelope(options.seal),
      redis: this.#redis,
      prefix: this.#prefix,
      worker: this.name,
      resultStore: options.resultStore,
    })
    this.#workers = labels.map((label) => {
      const settings = {
        connection: this.#redis,
        prefix: this.#prefix,
        name: this.name,
        concurrency,
        lockDuration: options.lockMs ?? 10_000,
        stalledInterval: options.checkMs ?? 5_000,
        maxStalledCount: 1,
      }
      return jobWorker(queueOf(label), (job) => this.#jobs.answer(label, job), settings, onError)
    })
  }

  async start(): Promise<void> {
    this.tools = (await this.#bodies.load()).map(({ name }) => name)
    await checkDurability(this.#redis, warnerOf(this.#options))
    this.#subscriber.on('message', (_channel, text) => {
      const { id, reason } = abortIn(text)
      this.#jobs.stop(id, reason)
    })
    await this.#subscriber.subscribe(...this.#labels.map((label) => abortChannel(this.#prefix, label)))
    // messages are hints: the markers are the truth
    this.#looks = setInterval(() => this.#jobs.lookAtMarkers(), 1_000)
    await Promise.all(this.#workers.map((worker) => worker.waitUntilReady()))
    for (const worker of this.#workers) worker.run().catch(onceInAWhile(warnerOf(this.#options), 'A worker stopped'))
    if (this.#options.handleSignals !== false) this.#ignoreSignals = closeAtSignals(() => void this.close())
  }

  health(): { isConnected: boolean; isDraining: boolean; running: number } {
    return {
      isConnected: this.#redis.status === 'ready',
      isDraining: this.#closing !== undefined,
      running: this.#jobs.running,
    }
  }

  close(): Promise<{ killed: number }> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<{ killed: number }> {
    this.#ignoreSignals()
    const closed = Promise.all(this.#workers.map((worker) => worker.close()))
    const settled = closed.catch(() => undefined)
    const hasDrained = await within(settled, this.#options.drainMs ?? 30_000)
    clearInterval(this.#looks)
    const killed = this.#jobs.running
    // killed bodies have an unknown outcome, which still reaches their hosts
    await this.#bodies.end()
    if (!hasDrained) await within(settled, closeMs)
    this.#subscriber.disconnect()
    this.#redis.disconnect()
    return { killed }
  }
}

/** Anyone who can write to Redis can publish any message. */
function abortIn(text: string): { id: string; reason: unknown } {
  try {
    const { id, reason } = JSON.parse(text)
    return { id: String(id), reason }
  } catch {
    return { id: '', reason: undefined }
  }
}
