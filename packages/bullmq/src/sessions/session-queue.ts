import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { isSignalboxError, type PermissionAnswer } from 'signalbox'
import { checkId, type JournalStore, postAnswer, type SessionNote } from 'signalbox/durable'
import { within } from 'signalbox/node'
import {
  checkDurability,
  checkEngine,
  checkJournals,
  closeMs,
  connect,
  type EngineOptions,
  onceInAWhile,
  warnerOf,
} from '../engine.ts'
import { hashOf } from '../journals/database.ts'

/** The name of the queue of runs. */
export const sessionsQueue = 'sessions'

/** One run of a session, as it is queued. */
export interface SessionJob {
  readonly id: string
}

/** How often a run is tried again after an error, such as a database that stays away. */
const attempts = 10
const backoff = { type: 'exponential', delay: 500 } as const

/**
 * Queues a run. One that waits already is enough, and one that waits for its next attempt begins now; while one is
 * active, the next begins when it is over. So at most one run of a session is active, and none is missed.
 */
export async function enqueue(queue: Queue, id: string): Promise<void> {
  const job: SessionJob = { id }
  await queue.add('run', job, {
    deduplication: { id: hashOf(id), keepLastIfActive: true, reschedule: true },
    attempts,
    backoff,
    removeOnComplete: true,
    removeOnFail: true,
  })
}

export interface SessionQueueOptions extends EngineOptions {
  /** The store that `serveSessions` has as well. */
  readonly journals: JournalStore
}

/** Posts to sessions that `serveSessions` runs. */
export interface SessionQueue {
  /**
   * Sends a message to a session, which is created if it does not exist. The message is durable when this resolves. The
   * same `uuid` twice is one message.
   */
  send(
    id: string,
    content: unknown,
    options?: { readonly uuid?: string | undefined; readonly interrupt?: boolean | undefined },
  ): Promise<'accepted' | 'stale'>
  /** Answers a question of a session, or of an agent inside it. */
  answer(
    id: string,
    question: string,
    answer: PermissionAnswer,
    options?: { readonly by?: string | undefined },
  ): Promise<'accepted' | 'stale'>
  /** Posts any note, such as an abort. */
  post(id: string, note: SessionNote): Promise<'accepted' | 'stale'>
  /** Queues a run of a session without posting, for example of one that is listed as lost. */
  enqueue(id: string): Promise<void>
  /** How many sessions wait for an orchestrator, and how many run. */
  depth(): Promise<{ waiting: number; running: number }>
  /** Closes the connections. */
  end(): Promise<void>
}

/**
 * The side of a web server: it posts messages and answers, and each post queues a run of its session.
 *
 * @example
 * const sessions = sessionQueue({ connection: 'redis://127.0.0.1:6379', journals })
 * await sessions.send('invoice-7', 'Pay the open invoices.')
 */
export function sessionQueue(options: SessionQueueOptions): SessionQueue {
  checkEngine(options, ['journals'])
  checkJournals(options.journals)
  return new PostingQueue(options)
}

class PostingQueue implements SessionQueue {
  readonly #journals: JournalStore
  readonly #redis: Redis
  readonly #queue: Queue

  constructor(options: SessionQueueOptions) {
    const warn = warnerOf(options)
    const onError = onceInAWhile(warn, 'The connection of sessionQueue to Redis failed')
    this.#journals = options.journals
    this.#redis = connect(options.connection, onError)
    this.#queue = new Queue(sessionsQueue, { connection: this.#redis, prefix: options.prefix ?? 'signalbox' })
    this.#queue.on('error', onError)
    checkDurability(this.#redis, warn, 'runs').catch(onError)
  }

  async send(
    id: string,
    content: unknown,
    { uuid = randomUUID(), interrupt }: { uuid?: string | undefined; interrupt?: boolean | undefined } = {},
  ): Promise<'accepted' | 'stale'> {
    checkId(id)
    const note: SessionNote = { type: 'message', uuid, content, ...(interrupt !== undefined && { interrupt }) }
    try {
      return await this.post(id, note)
    } catch (error) {
      if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
    }
    await this.#create(id)
    return this.post(id, note)
  }

  async answer(
    id: string,
    question: string,
    answer: PermissionAnswer,
    { by }: { by?: string | undefined } = {},
  ): Promise<'accepted' | 'stale'> {
    const told = await postAnswer(this.#journals, id, { question, answer, by })
    await this.enqueue(id)
    return told
  }

  async post(id: string, note: SessionNote): Promise<'accepted' | 'stale'> {
    const told = await this.#journals.post(id, note)
    // also if it is stale: whoever posted it first may have ended before this
    await this.enqueue(id)
    return told
  }

  async enqueue(id: string): Promise<void> {
    checkId(id)
    await enqueue(this.#queue, id)
  }

  async depth(): Promise<{ waiting: number; running: number }> {
    const { waiting = 0, delayed = 0, active = 0 } = await this.#queue.getJobCounts('waiting', 'delayed', 'active')
    return { waiting: waiting + delayed, running: active }
  }

  async end(): Promise<void> {
    await within(
      this.#queue.close().catch(() => undefined),
      closeMs,
    )
    this.#redis.disconnect()
  }

  async #create(id: string): Promise<void> {
    try {
      const journal = await this.#journals.open(id, { owner: 'sessionQueue', mode: 'create' })
      await journal.close()
    } catch (error) {
      // somebody else was faster
      if (!isSignalboxError(error) || (error.code !== 'session_exists' && error.code !== 'session_fenced')) throw error
    }
  }
}
