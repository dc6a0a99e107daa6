/// <reference lib="esnext.disposable" preserve="true" />
import type { ActorRefFrom } from 'xstate'
import type { QueryMachine } from '../../machines/index.ts'
import type { Background } from '../background/background-call.ts'
import { checkListener } from '../base/emitter.ts'
import { type ExecutorEvents, executorEventTypes } from '../executor/events.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { BlockLike, Message, UserMessage } from '../messages/message.ts'
import type { DetachOptions } from '../tool/background.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { RunUsage } from '../usage/usage-total.ts'
import { type QueryOptions, readSent } from './options.ts'
import { QueryLoop } from './query-loop.ts'
import type { QueryMessage, QueryResult } from './query-message.ts'

/**
 * A conversation with a model that calls tools: asks the model, runs its calls while it still streams, returns the results
 * to it, and repeats until the model makes no more calls. Nothing starts before the first `next()`.
 *
 * @example
 * const run = query({ messages: 'What does a.ts do?', tools, model, canUseTool })
 * for await (const message of run) show(message)
 * if (run.result?.reason === 'model_error') throw run.result.error
 */
export function query(options: QueryOptions): Query {
  return new Query(options)
}

type Listening = { readonly type: keyof ExecutorEvents; readonly listener: never }

/** A running query: an async generator of messages that returns why it ended. */
export class Query implements AsyncGenerator<QueryMessage, QueryResult, undefined> {
  readonly #run: QueryLoop
  readonly #listening = new Set<Listening>()
  readonly #executorListeners = new Set<(executor: StreamingToolExecutor) => void>()
  readonly #messageListeners = new Set<(message: QueryMessage) => void>()
  readonly #firstExecutor: StreamingToolExecutor
  #isStarted = false

  constructor(options: QueryOptions) {
    this.#run = new QueryLoop(options)
    this.#firstExecutor = this.#run.executor
    this.#run.onExecutor = this.#attach
    this.#run.outgoing.onItem = this.#show
  }

  /** The actor of the query chart, for observers. */
  get actor(): ActorRefFrom<QueryMachine> {
    return this.#run.actor
  }

  /** The executor of the current attempt; each attempt at a reply has its own. */
  get executor(): StreamingToolExecutor {
    return this.#run.executor
  }

  /** The session and its owners while the query goes on with a turn that another process began; for observers. */
  get recovered(): { readonly session: string; readonly from: string; readonly by: string } | undefined {
    const { log, executor } = this.#run
    if (log?.recovered === undefined || executor !== this.#firstExecutor) return undefined
    return { session: log.session, ...log.recovered }
  }

  /** The conversation up to the last completed turn: valid for the API at any time. */
  get transcript(): Message[] {
    return [...this.#run.transcript.messages]
  }

  /** The current context, with the rules that came with answers. It can be passed to another executor. */
  get context(): ToolUseContext {
    return this.#run.context
  }

  /** Why it ended, once it has: the return value of the generator, for hosts that use a loop. */
  get result(): QueryResult | undefined {
    return this.#run.outgoing.ending
  }

  /** What it has used so far, its agents and background calls included. */
  get usage(): RunUsage {
    return this.#run.account.usage
  }

  next(): Promise<IteratorResult<QueryMessage, QueryResult>> {
    this.#start()
    return this.#run.outgoing.take()
  }

  /** Breaking out of the loop aborts the query. Resolves when every call has its result and nothing runs any more. */
  async return(): Promise<IteratorResult<QueryMessage, QueryResult>> {
    // a query that never started must not start now
    this.#isStarted = true
    this.#run.abort('reader_left')
    for (;;) {
      this.#run.outgoing.drop()
      const step = await this.#run.outgoing.take()
      if (step.done === true) return step
    }
  }

  async throw(error: unknown): Promise<IteratorResult<QueryMessage, QueryResult>> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** For `await using`: leaving the scope ends the query. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /**
   * Interrupts the model and all interruptible calls; other calls finish. With a message, the query continues with that
   * message; without one, it ends.
   */
  interrupt(message?: string | readonly BlockLike[] | UserMessage): void {
    if (message === undefined) this.#run.abort('interrupt')
    else this.#run.steer(readSent(message))
  }

  /** Ends a run that a session can resume: sends no further request, and gives running work `graceMs` to finish. */
  suspend(graceMs: number): void {
    this.#run.suspend(graceMs)
  }

  /** Stops the model and every call. */
  abort(reason?: unknown): void {
    this.#run.abort(reason)
  }

  /**
   * Queues a message for the model's next turn, and forces one unless `maxTurns` or a hook prevents it. The transcript
   * contains the message in any case. Returns false if the query has ended or is ending.
   */
  send(message: string | readonly BlockLike[] | UserMessage): boolean {
    const read = readSent(message)
    if (!this.#run.actor.getSnapshot().hasTag('listening')) return false
    this.#run.send(read)
    return true
  }

  /** The calls that outlive their turn. */
  get background(): Background {
    return this.#run.background
  }

  /** Sends a running call to the background. Returns false if it does not run, or too many are there. */
  detach(toolUseID: string, how?: string | DetachOptions): boolean {
    return this.executor.detach(toolUseID, how)
  }

  /** Listens to the events of every executor of this query. Returns a function that removes the listener. */
  on<Type extends keyof ExecutorEvents>(type: Type, listener: (event: ExecutorEvents[Type]) => void): () => void {
    checkListener(type, listener, executorEventTypes)
    const listening: Listening = { type, listener: listener as never }
    this.#listening.add(listening)
    const stop = this.#isStarted ? this.executor.on(type, listener) : () => undefined
    return () => {
      this.#listening.delete(listening)
      stop()
    }
  }

  /** Calls the listener with each executor when its attempt begins. Returns a function that removes the listener. */
  onExecutor(listener: (executor: StreamingToolExecutor) => void): () => void {
    this.#executorListeners.add(listener)
    return () => void this.#executorListeners.delete(listener)
  }

  /** For observers: calls the listener with each message when it is ready, before a reader takes it. Returns a function that removes the listener. */
  onMessage(listener: (message: QueryMessage) => void): () => void {
    this.#messageListeners.add(listener)
    return () => void this.#messageListeners.delete(listener)
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#run.start()
  }

  readonly #show = (message: QueryMessage): void => {
    for (const listener of this.#messageListeners) {
      try {
        listener(message)
      } catch {
        // an observer that throws must not affect the query
      }
    }
  }

  readonly #attach = (executor: StreamingToolExecutor): void => {
    for (const listening of this.#listening) {
      executor.on(listening.type, (event) => {
        if (this.#listening.has(listening)) (listening.listener as (event: unknown) => void)(event)
      })
    }
    for (const listener of this.#executorListeners) {
      try {
        listener(executor)
      } catch {
        // an observer that throws must not affect the query
      }
    }
  }
}
