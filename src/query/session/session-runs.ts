import type { BackgroundCalls } from '../../background/background-calls.ts'
import { type CapturedContext, captureContext } from '../../base/async-context.ts'
import type { Emitter } from '../../base/emitter.ts'
import { LazyAbortController } from '../../base/lazy-abort-controller.ts'
import type { Message } from '../../messages/message.ts'
import type { CanUseTool } from '../../tool/permission.ts'
import { Account } from '../../usage/account.ts'
import type { QueryMessage, QueryResult } from '../query-message.ts'
import type { MessageLog } from './message-log.ts'
import type { SessionContexts } from './session-contexts.ts'
import { beginRun, inboxAfter } from './session-inbox.ts'
import { type SessionJournal, shownAgain } from './session-journal.ts'
import type { SessionEvents, SessionOptions } from './session-options.ts'
import { newSent, type Sent, type SessionRun } from './session-run.ts'
import type { Span } from './session-view.ts'

/** The parts of a session that its runs share. */
export interface SessionParts {
  readonly options: SessionOptions
  readonly canUseTool: CanUseTool
  readonly account: Account
  readonly background: BackgroundCalls
  readonly contexts: SessionContexts
  readonly log: MessageLog
  readonly emitter: Emitter<SessionEvents>
  readonly journal: SessionJournal | undefined
}

/** The runs of a session, one at a time: each begins with what waits in the inbox or in the log. */
export class SessionRuns {
  readonly #parts: SessionParts
  readonly #journal: SessionJournal | undefined
  readonly #log: MessageLog
  /** Without a journal: the conversation when no run is active. */
  #transcript: Message[]
  #result: QueryResult | undefined
  #inbox: Sent[] = []
  #active: SessionRun | undefined
  #whenIdle: (() => void)[] = []
  /**
   * `paused`: nothing begins before `resume` or `send`. `calledBack`: these came while the run that is to be suspended is still
   * active. `opening`: nothing begins before the opener could add its listeners.
   */
  #readiness: 'opening' | 'paused' | 'calledBack' | 'ready' = 'ready'
  #isClosing = false
  #resumed: Span[] = []
  /** The async context of whoever started the last run: one that goes on after an answer belongs to nobody else. */
  #starter: CapturedContext | undefined

  constructor(parts: SessionParts, transcript: Message[], opener: CapturedContext | undefined) {
    this.#parts = parts
    this.#journal = parts.journal
    this.#log = parts.log
    this.#transcript = transcript
    this.#starter = opener
    const { journal } = parts
    if (journal === undefined) return
    this.#readiness = journal.isUnfinished ? 'paused' : 'opening'
    this.#inbox = journal.sent.map((message) => newSent(message))
    setTimeout(() => this.#opened(), 0)
  }

  get active(): SessionRun | undefined {
    return this.#active
  }

  /** Complete up to the last finished turn. */
  get transcript(): Message[] {
    return this.#active?.query.transcript ?? [...(this.#journal?.transcript ?? this.#transcript)]
  }

  /** How the last run ended. */
  get result(): QueryResult | undefined {
    return this.#result
  }

  get isPaused(): boolean {
    return this.#readiness === 'paused'
  }

  /** An active run takes the message, or else the next one. */
  accept(sent: Sent): void {
    if (this.#active === undefined || !this.#active.take(sent, sent.isInterrupt)) this.#inbox.push(sent)
    this.goOn()
  }

  /** The same, even if the session was paused. */
  send(sent: Sent): void {
    this.#callBack()
    this.accept(sent)
  }

  /** Begins a run for the work in the log. Returns the part of the session that it adds. */
  resume(): Span {
    this.#callBack()
    const span: Span = { from: this.#log.end, to: undefined }
    this.#begin(captureContext())
    if (this.#active === undefined) span.to = span.from
    else this.#resumed.push(span)
    return span
  }

  /** Suspends the active run. Nothing begins before `send` or `resume`. */
  suspend(graceMs: number): void {
    this.#readiness = 'paused'
    this.#active?.query.suspend(graceMs)
  }

  #callBack(): void {
    if (this.#readiness === 'opening' || this.#active === undefined) this.#readiness = 'ready'
    else if (this.#readiness === 'paused') this.#readiness = 'calledBack'
  }

  /** Nothing begins any more. Messages that no run has taken are dropped. */
  close(): void {
    this.#isClosing = true
    this.#inbox = []
    this.#readiness = 'paused'
  }

  /** Resolves when no run is active. */
  async whenIdle(): Promise<void> {
    if (this.#active !== undefined) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  #opened(): void {
    if (this.#readiness !== 'opening') return
    this.#readiness = 'ready'
    this.goOn()
  }

  /** Begins a run if something waits, unless the session is paused. */
  goOn(): void {
    if (this.#readiness === 'ready') this.#begin()
  }

  /** Starts a run for what waits in the inbox or in the log, unless one is active. */
  #begin(by?: CapturedContext): void {
    const isUnfinished = this.#inbox.length > 0 || this.#journal?.isUnfinished === true
    if (this.#active !== undefined || this.#isClosing || !isUnfinished) return
    const sent = this.#inbox.splice(0)
    if (this.#journal !== undefined) return this.#driveWith(sent, by)
    this.#takeOutcomes()
    // those of a run that had no turn left for them are in the transcript already
    for (const { message, span } of sent.filter(({ span }) => span.from === undefined)) {
      span.from = this.#log.end
      this.#transcript.push(message)
      this.#log.push(message)
    }
    this.#driveWith(sent, by)
  }

  /** The outcomes of background calls that ended while no run was active come before the next message. */
  #takeOutcomes(): void {
    for (const message of this.#parts.background.takeOutcomes()) {
      this.#transcript.push(message)
      this.#log.push(message)
    }
  }

  /** In the async context of whoever resumed the session, or sent the first message. */
  #driveWith(sent: readonly Sent[], by: CapturedContext | undefined): void {
    const drive = () => void this.#drive(sent)
    this.#starter = by ?? sent[0]?.context ?? this.#starter
    if (this.#starter === undefined) drive()
    else this.#starter.run(drive, undefined)
  }

  async #drive(sent: readonly Sent[]): Promise<void> {
    const { id: _id, ...options } = this.#parts.options
    let result: QueryResult
    let run: SessionRun | undefined
    const again = this.#journal && shownAgain(this.#journal)
    if (again !== undefined) this.#log.drop(({ uuid }) => again.has(uuid))
    try {
      // each run has its own controller: an AbortController fires once, a session outlives an abort
      const context = { ...this.#parts.contexts.last, abortController: new LazyAbortController() }
      const own = { background: this.#parts.background, account: this.#parts.account }
      const runOptions = { ...options, canUseTool: this.#parts.canUseTool, context, ...own }
      run = beginRun(runOptions, sent, this.#journal ?? this.#transcript)
      this.#active = run
      const { aborted, reason } = this.#parts.contexts.host
      if (aborted) run.query.abort(reason)
      this.#parts.emitter.emit('run_started', { run: run.query })
      const driven = run.drive((message) => this.#take(run as SessionRun, message))
      if (this.#journal !== undefined) run.steerBy(sent)
      result = await driven
    } catch (error) {
      // a tools function that throws, for example
      result = { reason: 'model_error', error, stopReason: undefined, usage: new Account().usage }
    }
    this.#finish(run, sent, result)
  }

  #take(run: SessionRun, message: QueryMessage): void {
    const sent = run.sentBy(message.uuid)
    if (sent !== undefined) sent.span.from = this.#log.end
    this.#log.push(message)
    this.#parts.contexts.keep(run.query.context, this.#log.end)
  }

  #finish(run: SessionRun | undefined, begunWith: readonly Sent[], result: QueryResult): void {
    const goesOn = this.#goesOn(result)
    const isCalledBack = this.#readiness === 'calledBack'
    if (isCalledBack) this.#readiness = 'ready'
    const { over, unanswered } = run?.judge(result, goesOn) ?? { over: begunWith, unanswered: [] }
    if (run !== undefined) {
      this.#transcript = run.query.transcript
      this.#parts.contexts.keep(run.query.context, this.#log.end)
    }
    this.#active = undefined
    this.#parts.background.listener = undefined
    this.#result = result
    for (const { span } of over) span.to = this.#log.end
    const isResumed = goesOn && isCalledBack && result.reason === 'suspended'
    if (!isResumed) for (const span of this.#resumed.splice(0)) span.to = this.#log.end
    this.#log.drop(({ type }) => type === 'progress' || type === 'stream_event')
    this.#log.wake()
    if (this.#journal === undefined) this.#inbox.unshift(...unanswered)
    else this.#settle(this.#journal, unanswered, result, run !== undefined)
    this.#parts.emitter.emit('run_ended', { result })
    if (goesOn) this.goOn()
    if (this.#active === undefined) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** The open work of a suspended run is in the log. */
  #settle(journal: SessionJournal, unanswered: readonly Sent[], { reason }: QueryResult, hasBegun: boolean): void {
    this.#inbox = inboxAfter(journal, this.#inbox, unanswered)
    // a run that could not begin would fail again at once
    if (reason === 'journal_error' || !hasBegun) this.#readiness = 'paused'
  }

  #goesOn({ reason }: QueryResult): boolean {
    if (this.#isClosing || reason === 'journal_error') return false
    // the inbox has what came too late for the run
    const isWanted = this.#readiness === 'calledBack' || this.#inbox.length > 0 || this.#journal?.hasAnswered === true
    return reason !== 'suspended' || isWanted
  }
}
