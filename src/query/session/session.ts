/// <reference lib="esnext.disposable" preserve="true" />
import { captureContext } from '../../base/async-context.ts'
import { Emitter } from '../../base/emitter.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { defaultStamps } from '../../messages/ids-and-time.ts'
import type { ContentBlock, Message, UserMessage } from '../../messages/message.ts'
import { type QuestionDesk, withChannel } from '../../pipeline/ask-channel.ts'
import { allowAllTools, type CanUseTool, type PermissionAnswer } from '../../tool/permission.ts'
import { createToolUseContext, type ToolUseContext } from '../../tool/tool-use-context.ts'
import { checkOptions, readMessages, readSent } from '../options.ts'
import { query } from '../query.ts'
import type { QueryMessage, QueryResult } from '../query-message.ts'
import { messagesUpTo } from './fork-point.ts'
import { MessageLog } from './message-log.ts'
import { QuestionBook, type SessionQuestion } from './question-book.ts'
import type { SessionEvents } from './session-events.ts'
import { checkSessionId, type ForkOptions, type SendOptions, type SessionOptions } from './session-options.ts'
import { type Sent, SessionRun } from './session-run.ts'
import { SessionView } from './session-view.ts'
import { type SessionUsage, UsageTotal } from './usage.ts'

export type SessionStatus = 'idle' | 'running' | 'closing' | 'closed'

/**
 * A conversation that keeps its transcript, context, rules and usage from one prompt to the next. In memory.
 *
 * @example
 * const session = createSession({ tools, model, canUseTool })
 * for await (const message of session.send('Pay the open invoices.')) show(message)
 */
export function createSession(options: SessionOptions): Session {
  return new Session(options)
}

export class Session implements AsyncDisposable {
  readonly id: string
  readonly #options: SessionOptions
  readonly #log = new MessageLog()
  readonly #usage: UsageTotal
  readonly #questions: QuestionBook
  readonly #canUseTool: CanUseTool
  readonly #emitter = new Emitter<SessionEvents>()
  readonly #hostController: AbortController
  /** Each context with the position in the log from which it holds, for forks of the past. */
  readonly #contexts: { readonly from: number; readonly context: ToolUseContext }[]
  readonly #onHostAbort = (): void => this.abort(this.#hostController.signal.reason)
  #transcript: Message[]
  #result: QueryResult | undefined
  #inbox: Sent[] = []
  #active: SessionRun | undefined
  #whenIdle: (() => void)[] = []
  #closing: Promise<void> | undefined

  constructor(options: SessionOptions) {
    const { id, messages = [], prices, ...queryOptions } = options
    checkSessionId(id)
    checkOptions({ ...queryOptions, messages })
    this.id = id ?? `session_${defaultStamps.uuid()}`
    this.#options = options
    this.#usage = new UsageTotal(prices)
    this.#questions = new QuestionBook(this.id, {
      opened: (question) => this.#emitter.emit('question_opened', question),
      closed: (id) => this.#emitter.emit('question_closed', { id }),
    })
    this.#canUseTool = askThrough(options, this.#questions)
    this.#transcript = readMessages(messages)
    for (const message of this.#transcript) this.#log.push(message)
    const context = createToolUseContext(options.context)
    this.#contexts = [{ from: 0, context }]
    this.#hostController = context.abortController
    this.#hostController.signal.addEventListener('abort', this.#onHostAbort)
  }

  get status(): SessionStatus {
    if (this.#closing !== undefined) return this.#log.isClosed ? 'closed' : 'closing'
    return this.#active === undefined ? 'idle' : 'running'
  }

  /** The conversation, complete up to the last finished turn: valid for the API at any time. */
  get transcript(): Message[] {
    return this.#active?.query.transcript ?? [...this.#transcript]
  }

  /** The context as it now stands, with the rules that came with answers. It can be handed to another executor. */
  get context(): ToolUseContext {
    return this.#withHostController(this.#active?.query.context ?? this.#lastContext)
  }

  get usage(): SessionUsage {
    return this.#usage.total
  }

  /** How the last run ended; undefined until one has. */
  get result(): QueryResult | undefined {
    return this.#result
  }

  /**
   * Sends a message. An active run gets it at its next turn; otherwise a run begins. Returns a view of everything from
   * this message until the run that answers it ends. The run goes on whether or not the view is read.
   */
  send(message: string | ContentBlock[] | UserMessage, { interrupt = false }: SendOptions = {}): SessionView {
    this.#assertOpen()
    const span = { from: undefined, to: undefined }
    const sent: Sent = { message: readSent(message), span, context: captureContext() }
    if (this.#active === undefined || !this.#active.take(sent, interrupt)) this.#inbox.push(sent)
    this.#begin()
    return new SessionView(this.#log, sent.span)
  }

  /** Everything that waits for a person, questions of agents included. */
  questions(): SessionQuestion[] {
    return this.#questions.questions
  }

  /** Answers a question. `stale`: it was answered before, its call is over, or its input has changed. */
  async answer(id: string, answer: PermissionAnswer): Promise<'accepted' | 'stale'> {
    return this.#questions.answer(id, answer) ? 'accepted' : 'stale'
  }

  /** Does to the active run what `interrupt` does to a query. */
  interrupt(message?: string | ContentBlock[] | UserMessage): void {
    if (message !== undefined) void this.send(message, { interrupt: true })
    else this.#active?.query.interrupt()
  }

  /** Stops the active run: the model and every call. */
  abort(reason?: unknown): void {
    this.#active?.query.abort(reason)
  }

  /** Replays what came after a message, the turn in progress included, and goes on live until the session is closed. */
  messages({ after }: { after?: string | undefined } = {}): SessionView {
    return new SessionView(this.#log, { from: after === undefined ? 0 : this.#log.after(after), to: undefined })
  }

  /** A new session with the conversation, rules and context up to a message. The old session goes on by itself. */
  async fork({ id, at }: ForkOptions = {}): Promise<Session> {
    const { transcript } = this
    const messages = at === undefined ? transcript : messagesUpTo(transcript, at)
    const last = messages.at(-1)
    const context = at === undefined || last === undefined ? this.context : this.#contextAfter(last.uuid)
    return new Session({ ...this.#options, id, messages, context })
  }

  /** Resolves when no run is active. */
  async whenIdle(): Promise<void> {
    if (this.#active !== undefined) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  /** Ends the active run and every view. Resolves when nothing runs any more. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Listens to what happens in the session. Returns how to stop listening. */
  on<Type extends keyof SessionEvents>(type: Type, listener: (event: SessionEvents[Type]) => void): () => void {
    return this.#emitter.on(type, listener)
  }

  /** Starts a run for what waits in the inbox, unless one is active. */
  #begin(): void {
    if (this.#active !== undefined || this.#inbox.length === 0) return
    const sent = this.#inbox.splice(0)
    // those of a run that had no turn left for them are in the transcript already
    for (const { message, span } of sent.filter(({ span }) => span.from === undefined)) {
      span.from = this.#log.end
      this.#transcript.push(message)
      this.#log.push(message)
    }
    const drive = () => void this.#drive(sent)
    const context = sent[0]?.context
    if (context === undefined) drive()
    else context.run(drive, undefined)
  }

  async #drive(sent: readonly Sent[]): Promise<void> {
    const { id: _id, prices: _prices, ...options } = this.#options
    let result: QueryResult
    let run: SessionRun | undefined
    try {
      // each run has its own controller: an AbortController fires once, a session outlives an abort
      const context = { ...this.#lastContext, abortController: new AbortController() }
      run = new SessionRun(
        query({ ...options, canUseTool: this.#canUseTool, messages: this.#transcript, context }),
        sent,
      )
      this.#active = run
      if (this.#hostController.signal.aborted) run.query.abort(this.#hostController.signal.reason)
      this.#emitter.emit('run_started', {})
      result = await run.drive((message) => this.#take(run as SessionRun, message))
    } catch (error) {
      // a tools function that throws, for example
      result = { reason: 'model_error', error, stopReason: undefined }
    }
    this.#finish(run, sent, result)
  }

  #take(run: SessionRun, message: QueryMessage): void {
    const sent = run.sentBy(message.uuid)
    if (sent !== undefined) sent.span.from = this.#log.end
    this.#log.push(message)
    this.#usage.add(message)
    this.#keepContext(run)
  }

  #finish(run: SessionRun | undefined, begunWith: readonly Sent[], result: QueryResult): void {
    const { over, unanswered } = run?.judge(result) ?? { over: begunWith, unanswered: [] }
    if (run !== undefined) {
      this.#transcript = run.query.transcript
      this.#keepContext(run)
    }
    this.#active = undefined
    this.#result = result
    for (const { span } of over) span.to = this.#log.end
    this.#log.drop(({ type }) => type === 'progress' || type === 'stream_event')
    this.#log.wake()
    this.#inbox.unshift(...unanswered)
    this.#emitter.emit('run_ended', { result })
    if (this.#closing === undefined) this.#begin()
    if (this.#active === undefined) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  async #close(): Promise<void> {
    this.#inbox = []
    this.abort('session_closed')
    await this.whenIdle()
    this.#hostController.signal.removeEventListener('abort', this.#onHostAbort)
    this.#log.close()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new SignalboxError('session_closed', `Session ${this.id} is closed.`)
  }

  #keepContext({ query: { context } }: SessionRun): void {
    if (this.#lastContext !== context) this.#contexts.push({ from: this.#log.end, context })
  }

  get #lastContext(): ToolUseContext {
    return (this.#contexts.at(-1) as { context: ToolUseContext }).context
  }

  #contextAfter(uuid: string): ToolUseContext {
    const end = this.#log.after(uuid)
    const held = this.#contexts.findLast(({ from }) => from <= end) as { context: ToolUseContext }
    return this.#withHostController(held.context)
  }

  #withHostController(context: ToolUseContext): ToolUseContext {
    return { ...context, abortController: this.#hostController }
  }
}

/** Without a host to ask, a question waits for `answer`. */
function askThrough(
  { canUseTool = () => ({ behavior: 'later' }), context }: SessionOptions,
  desk: QuestionDesk,
): CanUseTool {
  // known for what it is, it spares every call a phase; only a hook can pause a call then
  if (canUseTool === allowAllTools && context?.hooks === undefined) return canUseTool
  return withChannel(canUseTool, { questions: desk, agents: [] })
}
