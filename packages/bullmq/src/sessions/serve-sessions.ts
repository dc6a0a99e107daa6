import { hostname } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Job, Queue, type Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { isSignalboxError, type QueryMessage, type Session, SignalboxError } from 'signalbox'
import { type JournalStore, type OpenSessionOptions, openSession } from 'signalbox/durable'
import { within } from 'signalbox/node'
import {
  checkDurability,
  checkEngine,
  checkJournals,
  closeMs,
  connect,
  type EngineOptions,
  onceInAWhile,
  type Warn,
  warnerOf,
} from '../engine.ts'
import { jobWorker } from '../job-worker.ts'
import { checkServing, closeAtSignals } from '../serving.ts'
import { enqueue, type SessionJob, sessionsQueue } from './session-queue.ts'

/** The options of a session, without those that `serveSessions` gives it. */
export type ServedSessionOptions = Omit<OpenSessionOptions, 'id' | 'journals' | 'owner' | 'mode' | 'messages'>

export interface ServeSessionsOptions extends EngineOptions {
  /** The store of the sessions. All orchestrators and posting processes must see the same sessions in it. */
  readonly journals: JournalStore
  /** Makes the options of a session: its tools, its model, its permissions. Called before each run. */
  readonly build: (id: string) => ServedSessionOptions | Promise<ServedSessionOptions>
  /** Gets every message of every run. What it throws is a warning. */
  readonly onMessage?: ((id: string, message: QueryMessage) => void) | undefined
  /**
   * How many sessions run at once.
   * @default 16
   */
  readonly concurrency?: number | undefined
  /**
   * Names this orchestrator in the logs of its sessions.
   * @default the host name and the process id
   */
  readonly name?: string | undefined
  /**
   * How long an orchestrator that says nothing keeps its sessions, in milliseconds.
   * @default 10_000
   */
  readonly lockMs?: number | undefined
  /**
   * How often orchestrators look for sessions of lost orchestrators, in milliseconds.
   * @default 5_000
   */
  readonly checkMs?: number | undefined
  /**
   * How long `close` and SIGTERM let runs go on before they are suspended, in milliseconds. Others take them over.
   * @default 10_000
   */
  readonly drainMs?: number | undefined
  /**
   * Whether SIGTERM and SIGINT close the orchestrator.
   * @default true
   */
  readonly handleSignals?: boolean | undefined
}

/** An orchestrator: a process that runs sessions. */
export interface ServedSessions {
  readonly name: string
  /** For a probe: whether Redis answers, whether it takes sessions, and how many run. */
  health(): { readonly isConnected: boolean; readonly isDraining: boolean; readonly running: number }
  /** Resolves when it has closed, for example after SIGTERM: then close what the sessions used. */
  readonly closed: Promise<void>
  /** Takes no more sessions, suspends those that run, queues them for others, and ends. */
  close(): Promise<void>
}

/** A run whose orchestrators are lost this often is given up: it may be what ends them. */
const maxTakeovers = 10
const ownOptions = [
  'journals',
  'build',
  'onMessage',
  'concurrency',
  'name',
  'lockMs',
  'checkMs',
  'drainMs',
  'handleSignals',
]

/**
 * Runs sessions to which `sessionQueue` posts, on as many machines as call this. Resolves when it takes sessions.
 *
 * @example
 * await serveSessions({ connection: 'redis://127.0.0.1:6379', journals, build: (id) => ({ tools, model, canUseTool }) })
 */
export async function serveSessions(options: ServeSessionsOptions): Promise<ServedSessions> {
  checkEngine(options, ownOptions)
  checkJournals(options.journals)
  const { concurrency = 16 } = options
  if (typeof options.build !== 'function') {
    throw new SignalboxError('invalid_option', 'build: expected a function that returns the options of a session.')
  }
  checkServing(options)
  const served = new SessionServer(options, concurrency)
  try {
    await served.start()
  } catch (error) {
    await served.close()
    throw error
  }
  return served
}

class SessionServer implements ServedSessions {
  readonly name: string
  readonly #options: ServeSessionsOptions
  readonly #warn: Warn
  readonly #redis: Redis
  readonly #queue: Queue
  readonly #worker: Worker
  /** Also twice the same: a process that was stopped for a while may take its own session over. */
  readonly #running = new Set<Session>()
  #ignoreSignals = (): void => undefined
  readonly closed: Promise<void>
  #onClosed: () => void = () => undefined
  #closing: Promise<void> | undefined

  constructor(options: ServeSessionsOptions, concurrency: number) {
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve
    })
    this.#options = options
    this.#warn = warnerOf(options)
    const onError = onceInAWhile(this.#warn, 'The connection of an orchestrator to Redis failed')
    const prefix = options.prefix ?? 'signalbox'
    this.name = options.name ?? `${hostname()}:${process.pid}`
    this.#redis = connect(options.connection, onError)
    this.#queue = new Queue(sessionsQueue, { prefix, connection: this.#redis })
    const settings = {
      prefix,
      connection: this.#redis,
      name: this.name,
      concurrency,
      lockDuration: options.lockMs ?? 10_000,
      stalledInterval: options.checkMs ?? 5_000,
      maxStalledCount: maxTakeovers,
    }
    this.#worker = jobWorker(sessionsQueue, (job) => this.#work(idIn(job)), settings, onError)
    this.#queue.on('error', onError)
    this.#worker.on('failed', (job, error) => this.#onFailed(job, error))
  }

  async start(): Promise<void> {
    await checkDurability(this.#redis, this.#warn, 'runs')
    await this.#worker.waitUntilReady()
    this.#worker.run().catch(onceInAWhile(this.#warn, 'An orchestrator stopped'))
    if (this.#options.handleSignals !== false) this.#ignoreSignals = closeAtSignals(() => void this.close())
  }

  health(): { isConnected: boolean; isDraining: boolean; running: number } {
    return {
      isConnected: this.#redis.status === 'ready',
      isDraining: this.#closing !== undefined,
      running: this.#running.size,
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(this.#onClosed)
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#ignoreSignals()
    const closed = this.#worker.close().catch(() => undefined)
    for (const session of this.#running) this.#suspend(session)
    // what does not end is taken over by others when its lock runs out
    await within(closed, (this.#options.drainMs ?? 10_000) + closeMs)
    await within(
      this.#queue.close().catch(() => undefined),
      closeMs,
    )
    this.#redis.disconnect()
  }

  #suspend(session: Session): void {
    session.suspend({ graceMs: this.#options.drainMs ?? 10_000 }).catch(() => undefined)
  }

  async #work(id: string | undefined): Promise<string> {
    const { journals, build } = this.#options
    // whoever can write to Redis can queue anything
    if (id === undefined) return 'not a session'
    let session: Session
    try {
      session = await openSession({ ...(await build(id)), id, journals, owner: this.name, mode: 'resume' })
    } catch (error) {
      // it was removed while it waited
      if (isSignalboxError(error) && error.code === 'session_not_found') return 'gone'
      throw error
    }
    this.#running.add(session)
    try {
      return await this.#run(id, session)
    } finally {
      this.#running.delete(session)
      await session.close()
    }
  }

  /** Until nothing is left to do: the run ended, or it waits for an answer. */
  async #run(id: string, session: Session): Promise<string> {
    session.on('run_started', ({ run }) => void run.onMessage((message) => this.#tell(id, message)))
    if (this.#closing !== undefined) this.#suspend(session)
    else session.resume()
    // notes from the inbox arrive in the same turn of the event loop
    for (await nextTurn(); session.status === 'running'; await nextTurn()) await session.whenIdle()
    const { result, status } = session
    if (result?.reason === 'journal_error') return this.#explain(result.error)
    if (this.#closing !== undefined && status === 'suspended') await enqueue(this.#queue, id)
    return result?.reason ?? status
  }

  /** Somebody else has the session, or the store failed and another attempt goes on. */
  #explain(error: unknown): string {
    if (isSignalboxError(error) && error.code === 'session_fenced') return 'fenced'
    throw error
  }

  #tell(id: string, message: QueryMessage): void {
    try {
      this.#options.onMessage?.(id, message)
    } catch (error) {
      this.#warn({ code: 'engine_error', message: `onMessage of serveSessions threw: ${error}`, error })
    }
  }

  #onFailed(job: Job | undefined, error: Error): void {
    if (job === undefined || job.attemptsMade < (job.opts.attempts ?? 1)) return
    const message = `Session ${idIn(job)} was given up until something is posted to it: ${error.message}`
    this.#warn({ code: 'session_failed', message, error })
  }
}

function idIn({ data }: Job): string | undefined {
  const { id } = (data ?? {}) as Partial<SessionJob>
  return typeof id === 'string' ? id : undefined
}
