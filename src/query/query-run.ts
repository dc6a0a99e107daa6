import type { ActorRefFrom } from 'xstate'
import {
  createTableRoot,
  type QueryEnding,
  type QueryEvent,
  type QueryMachine,
  type QueryPort,
  queryTable,
} from '../../machines/index.ts'
import { describeError } from '../errors/describe-error.ts'
import type { MessageUpdate } from '../executor/delivery.ts'
import { HostAbort } from '../executor/host-abort.ts'
import { readOptions, type Settings } from '../executor/options.ts'
import { Outbox } from '../executor/outbox.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createInterruptionMessage, createSystemMessage } from '../messages/create-messages.ts'
import type { Message, UserMessage } from '../messages/message.ts'
import { requestMessages } from '../messages/request-messages.ts'
import type { Stamps } from '../messages/stamps.ts'
import type { ModelEvent } from '../model/model.ts'
import { clearTimer } from '../pipeline/clock.ts'
import { whenSettled } from '../pipeline/when-settled.ts'
import type { AnyTool } from '../tool/tool.ts'
import { Attempt, type AttemptHost } from './attempt.ts'
import { AttemptSetup } from './attempt-setup.ts'
import { Mailbox } from './mailbox.ts'
import { ModelChoice } from './model-choice.ts'
import { ModelStream } from './model-stream.ts'
import { OldBodies } from './old-bodies.ts'
import { checkOptions, type QueryOptions, readMessages } from './options.ts'
import type { QueryMessage } from './query-message.ts'
import { ReplyAssembler, type ReplyPart } from './reply-assembler.ts'
import { Transcript } from './transcript.ts'

/** How many messages wait for a reader before the model has to. */
const mailboxRoom = 1_000
const defaultIdleMs = 120_000

/** Why a query ended, and the last stop reason of the model. */
export type QueryResult = QueryEnding & { readonly stopReason: string | undefined }

/** Everything one query works with: its chart in the middle, and around it what the chart asks for. */
export class QueryRun implements QueryPort, AttemptHost {
  readonly mailbox = new Mailbox<QueryMessage, QueryResult>(mailboxRoom)
  readonly transcript: Transcript
  readonly actor: ActorRefFrom<QueryMachine>
  readonly isBatch: boolean
  readonly sent: UserMessage[] = []
  /** Told of each executor: there is one for each attempt at a reply. */
  onExecutor: ((executor: StreamingToolExecutor) => void) | undefined
  readonly #options: QueryOptions
  readonly #settings: Settings
  readonly #setup: AttemptSetup
  readonly #choice: ModelChoice
  readonly #outbox: Outbox
  readonly #hostAbort: HostAbort
  #attempt: Attempt
  /** Nothing was asked of the attempt yet. */
  #isFresh = true
  #stream: ModelStream | undefined
  #reply = new ReplyAssembler()
  #request: readonly Message[] = []
  #turns = 0
  #timer: unknown
  readonly #oldBodies = new OldBodies()

  constructor(options: QueryOptions) {
    checkOptions(options)
    this.#options = options
    this.#settings = readOptions(options.executor)
    this.#setup = new AttemptSetup(options)
    this.#choice = new ModelChoice(options)
    this.isBatch = options.toolExecution === 'batch'
    this.transcript = new Transcript(readMessages(options.messages))
    this.#attempt = this.#newAttempt()
    this.#outbox = new Outbox(() => undefined)
    this.#hostAbort = new HostAbort(this.#setup.context.abortController, (reason) => this.abort(reason))
    this.actor = createTableRoot(queryTable(), { id: 'query', input: { port: this } }).start()
  }

  get executor(): StreamingToolExecutor {
    return this.#attempt.executor
  }

  start(): void {
    if (this.actor.getSnapshot().status === 'active') this.#hostAbort.listenWhile(true)
    this.#tell({ type: 'query.start' })
  }

  abort(reason: unknown): void {
    this.#tell({ type: 'query.abort', reason })
  }

  steer(message: UserMessage): void {
    this.sent.push(message)
    this.#tell({ type: 'query.steer' })
  }

  get isHookStopped(): boolean {
    return this.#attempt.isHookStopped
  }

  get isExpected(): boolean {
    const { hasCalls, stopReason } = this.#attempt
    if (this.sent.length > 0 || stopReason === 'pause_turn') return true
    return hasCalls && stopReason !== 'refusal'
  }

  get isLastTurn(): boolean {
    return this.#turns >= (this.#options.maxTurns ?? Number.POSITIVE_INFINITY)
  }

  prepare(): void {
    this.#outbox.push(() => this.#prepare())
  }

  openStream(): void {
    this.#outbox.push(() => this.#openStream())
  }

  stopModel(): void {
    this.#outbox.push(() => this.#stream?.stop())
  }

  discardAttempt(): void {
    this.#outbox.push(() => {
      this.#stream?.stop()
      this.#discard()
      this.#attempt = this.#newAttempt()
      this.#isFresh = true
    })
  }

  discardReply(): void {
    this.#outbox.push(() => {
      this.#discard()
      this.#attempt = this.#newAttempt()
      this.onExecutor?.(this.executor)
    })
  }

  useFallback(): void {
    this.#outbox.push(() => this.#choice.fallBack())
  }

  startBackoff(delayMs: number): void {
    this.#outbox.push(() => {
      const delay = new Promise<void>((resolve) => {
        this.#timer = this.#settings.clock.setTimeout(resolve, delayMs)
      })
      // an unsafe call of the next attempt must not meet a body of this one
      void Promise.all([delay, this.#oldBodies.whenGone()]).then(() => this.#tell({ type: 'retry.due' }))
    })
  }

  closeReply(isWhole: boolean): void {
    this.#outbox.push(() => this.#attempt.close(isWhole, this.#reply.partialText()))
  }

  abortTools(reason: unknown): void {
    this.#outbox.push(() => this.#attempt.executor.abort(reason))
  }

  drain(): void {
    this.#outbox.push(() => {
      const attempt = this.#attempt
      const gone = this.#oldBodies.whenGone()
      if (gone === undefined) attempt.drain()
      else void gone.then(() => attempt.drain())
    })
  }

  conclude(ending: QueryEnding): void {
    this.#outbox.push(() => this.#conclude(ending))
  }

  get stamps(): Stamps {
    return this.#settings.stamps
  }

  findTool(name: string): AnyTool | undefined {
    return this.#setup.tools.find(name)
  }

  isTaken(id: string): boolean {
    return this.transcript.hasCall(id)
  }

  isOldReply(id: string): boolean {
    return this.transcript.hasReply(id)
  }

  emit(message: Message): void {
    this.mailbox.push(message)
  }

  took({ message, newContext }: MessageUpdate): Promise<void> | undefined {
    this.#setup.context = newContext
    this.mailbox.push(message)
    return this.mailbox.room()
  }

  drained(attempt: Attempt): void {
    if (attempt !== this.#attempt) return
    this.transcript.add(attempt)
    this.#setup.settled()
    this.#turns++
    this.#choice.succeeded()
    this.#tell({ type: 'results.drained' })
  }

  #tell(event: QueryEvent): void {
    this.#outbox.run(() => {
      if (this.actor.getSnapshot().status === 'active') this.actor.send(event)
    })
  }

  /** What was sent enters the conversation. */
  #takeSent(): void {
    for (const message of this.sent.splice(0)) {
      this.transcript.push(message)
      this.mailbox.push(message)
    }
  }

  #prepare(): void {
    this.#takeSent()
    const { prepareMessages } = this.#options
    const { messages } = this.transcript
    whenSettled(
      () => (prepareMessages === undefined ? messages : prepareMessages([...messages])),
      (prepared) => {
        if (!Array.isArray(prepared)) {
          return this.#tell({ type: 'turn.failed', error: new TypeError('prepareMessages must return messages.') })
        }
        this.#request = prepared
        this.#tell({ type: 'turn.prepared' })
      },
      (error) => this.#tell({ type: 'turn.failed', error }),
    )
  }

  #openStream(): void {
    if (!this.#isFresh) this.#attempt = this.#newAttempt()
    this.#isFresh = false
    this.onExecutor?.(this.executor)
    this.#reply = new ReplyAssembler()
    const { system, streamIdleMs = defaultIdleMs } = this.#options
    const stream = new ModelStream(this.#settings.clock, this.stamps.now, streamIdleMs, {
      event: (event) => this.#onEvent(event),
      ended: () => this.#onEnd(),
      failed: (error) => this.#onFailure(error),
    })
    this.#stream = stream
    whenSettled(
      () => requestMessages(this.#request),
      (messages) =>
        stream.start(this.#choice.model, {
          messages,
          tools: this.#setup.tools.schemas,
          ...(system !== undefined && { system }),
        }),
      (error) => this.#onFailure(error),
    )
  }

  /** As one step: a tool that ends the query while its call is being announced ends it after that. */
  #onEvent(event: unknown): Promise<void> | undefined {
    if (this.#options.includeStreamEvents === true) {
      this.mailbox.push({ type: 'stream_event', uuid: this.stamps.uuid(), event: event as ModelEvent })
    }
    let pause: Promise<void> | undefined
    this.#outbox.run(() => {
      for (const part of this.#reply.take(event)) pause = this.#takePart(part) ?? pause
    })
    return pause ?? this.mailbox.room()
  }

  #takePart(part: ReplyPart): Promise<void> | undefined {
    if (part.type === 'failed') {
      this.#stream?.stop()
      this.#onFailure(part.error)
    } else if (part.type === 'started' && this.#attempt.isStarted) return this.#restart(part)
    else this.#attempt.take(part)
    if (part.type === 'stopped') this.#reportReply(part)
    return undefined
  }

  /** The service begins another reply in the same stream. Nothing of it may start before the old bodies are gone. */
  #restart(part: ReplyPart): Promise<void> {
    this.#tell({ type: 'stream.restarted' })
    this.#outbox.push(() => this.#attempt.take(part))
    return new Promise((resolve) => this.#outbox.push(() => resolve(this.#oldBodies.whenGone())))
  }

  #onEnd(): void {
    if (this.#attempt.stopReason === undefined) {
      const error = new Error('The stream of the model ended before its reply did.')
      return this.#onFailure(Object.assign(error, { code: 'ECONNRESET' }))
    }
    this.#choice.succeeded()
    this.#tell({ type: 'stream.ended', isWhole: this.#attempt.isWhole })
  }

  #onFailure(error: unknown): void {
    const { recovery, delayMs } = this.#choice.failed(error)
    this.#tell({ type: 'stream.failed', error, recovery, delayMs })
  }

  /** Nothing of the attempt stays, and the host hears what had run. */
  #discard(): void {
    const { error } = this.actor.getSnapshot().context
    const plan = this.#choice.takePlan()
    const { kind, delayMs, recovery } = plan ?? { kind: 'restarted', delayMs: 0, recovery: 'retry' }
    this.mailbox.push(
      createSystemMessage(
        {
          subtype: 'model_retry',
          error: plan === undefined ? 'The service began its reply again.' : describeError(error),
          errorKind: kind,
          delayMs,
          isFallback: recovery === 'fallBack',
          ...this.#attempt.discard(),
        },
        this.stamps,
      ),
    )
    this.#oldBodies.add(this.executor)
  }

  #reportReply({ stopReason, usage }: { stopReason: string; usage: unknown }): void {
    const { id, model } = this.#attempt.reply
    const fields = { subtype: 'model_reply', messageId: id, model, stopReason, usage }
    this.mailbox.push(createSystemMessage(fields, this.stamps))
  }

  #conclude(ending: QueryEnding): void {
    clearTimer(this.#settings.clock, this.#timer)
    this.#stream?.stop()
    this.#hostAbort.listenWhile(false)
    // no turn is left for it, but it must not be lost
    this.#takeSent()
    const isAborted = ending.reason === 'aborted_streaming' || ending.reason === 'aborted_tools'
    if (isAborted && ending.abortReason !== 'interrupt') {
      const message = createInterruptionMessage(ending.reason === 'aborted_tools', this.stamps)
      this.transcript.push(message)
      this.mailbox.push(message)
    }
    this.mailbox.end({ ...ending, stopReason: this.#attempt.stopReason })
  }

  #newAttempt(): Attempt {
    return new Attempt(this, this.#setup.newExecutor())
  }
}
