/// <reference lib="esnext.disposable" preserve="true" />

import type { Background } from '../../background/background-call.ts'
import { BackgroundCalls } from '../../background/background-calls.ts'
import { captureContext } from '../../base/async-context.ts'
import { checkListener, Emitter } from '../../base/emitter.ts'
import { checkOption, milliseconds } from '../../base/option-rules.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { readOptions as readExecutorOptions } from '../../executor/options.ts'
import { checkAnswer } from '../../journal/check-arguments.ts'
import type { SessionNote } from '../../journal/journal.ts'
import { keptOf } from '../../journal/kept-context.ts'
import { defaultIdsAndTime } from '../../messages/ids-and-time.ts'
import type { ContentBlock, Message, UserMessage } from '../../messages/message.ts'
import type { DetachOptions } from '../../tool/background.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'
import { createToolUseContext, type ToolUseContext } from '../../tool/tool-use-context.ts'
import { Account } from '../../usage/account.ts'
import { checkModel } from '../../usage/limits.ts'
import type { RunUsage } from '../../usage/usage-total.ts'
import { checkOptions, readMessages, readSent } from '../options.ts'
import type { QueryResult } from '../query-message.ts'
import { messagesUpTo } from './fork-point.ts'
import { MessageLog } from './message-log.ts'
import { askThrough, QuestionBook, type SessionQuestion } from './question-book.ts'
import { QuestionEvents } from './question-events.ts'
import { checkAddedRules, SessionContexts } from './session-contexts.ts'
import { allQuestions, keepUsage, openMessages, type SessionJournal } from './session-journal.ts'
import {
  accountOptions,
  checkSessionId,
  checkSessionOptions,
  type ForkOptions,
  type SendOptions,
  type SessionEvents,
  type SessionOptions,
  sessionEventTypes,
} from './session-options.ts'
import { newSent } from './session-run.ts'
import { SessionRuns } from './session-runs.ts'
import { SessionView } from './session-view.ts'

/** `suspended`: there is work to resume, and nothing runs until `resume`, `send` or an answer. */
export type SessionStatus = 'idle' | 'running' | 'suspended' | 'closing' | 'closed'

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
  readonly #account: Account
  readonly #questions: QuestionBook
  readonly #emitter = new Emitter<SessionEvents>()
  readonly #contexts: SessionContexts
  readonly #emitFinished: NonNullable<BackgroundCalls['onFinished']> = (call) =>
    this.#emitter.emit('background_finished', call)

  readonly #onHostAbort = (): void => this.abort(this.#contexts.host.reason)
  /** The calls that outlive their turn, and the run. */
  readonly #background: BackgroundCalls
  readonly #runs: SessionRuns
  /** The length of the conversation that this process has found in the log. */
  readonly #found: number
  #closing: Promise<void> | undefined
  readonly #journal: SessionJournal | undefined
  readonly #opener = captureContext()

  /** @param journal the log that everything is recorded in; `openSession` opens it */
  constructor(options: SessionOptions, journal?: SessionJournal) {
    checkSessionOptions(options)
    const { id, messages = [], ...queryOptions } = options
    checkSessionId(id)
    checkOptions({ ...queryOptions, messages }, ['id'])
    this.id = id ?? `session_${defaultIdsAndTime.uuid()}`
    this.#options = options
    this.#account = options.account ?? new Account(accountOptions(options))
    for (const model of [options.model, options.fallbackModel]) checkModel(model, this.#account, this.#account.prices)
    const events = new QuestionEvents(() => this.questions(), {
      opened: (question) => this.#emitter.emit('question_opened', question),
      closed: (id) => this.#emitter.emit('question_closed', { id }),
    })
    this.#questions = new QuestionBook(this.id, events)
    this.#background = new BackgroundCalls(readExecutorOptions(options.executor), options.maxBackground)
    this.#background.onFinished = this.#emitFinished
    this.#journal = journal
    const transcript = journal === undefined ? readMessages(messages) : [...journal.transcript]
    this.#found = transcript.length
    this.#log.pushShown([...transcript, ...(journal ? openMessages(journal) : [])])
    if (journal !== undefined) this.#log.remember(journal.reported)
    const named = { id: this.id, tools: options.tools }
    this.#contexts = new SessionContexts(createToolUseContext(options.context), journal, named)
    this.#contexts.host.add(this.#onHostAbort)
    const shared = { options, account: this.#account, background: this.#background, contexts: this.#contexts, journal }
    const canUseTool = askThrough(options, this.#questions)
    this.#runs = new SessionRuns(
      { ...shared, canUseTool, log: this.#log, emitter: this.#emitter },
      transcript,
      this.#opener,
    )
    if (journal === undefined) return
    if (options.account === undefined) keepUsage(this.#account, journal)
    events.know(journal.questions)
    journal.onQuestionClosed(() => events.check())
    journal.onNote((note) => this.#hear(journal, note))
    journal.onAgentAnswer(() => this.#runs.goOn())
  }

  get status(): SessionStatus {
    if (this.#closing !== undefined) return this.#log.isClosed ? 'closed' : 'closing'
    if (this.#runs.active !== undefined) return 'running'
    return this.#journal?.isUnfinished === true ? 'suspended' : 'idle'
  }

  /** The conversation, complete up to the last finished turn: valid for the API at any time. */
  get transcript(): Message[] {
    return this.#runs.transcript
  }

  /** The context as it now stands, with the rules that came with answers. It can be handed to another executor. */
  get context(): ToolUseContext {
    return this.#contexts.forHost(this.#runs.active?.query.context ?? this.#contexts.last)
  }

  /** What all its runs have used, their agents and background calls included. */
  get usage(): RunUsage {
    return this.#account.usage
  }

  /** The calls that go on in the background, whether or not a run is active. */
  get background(): Background {
    return this.#background
  }

  /** How the last run ended; undefined until one has. */
  get result(): QueryResult | undefined {
    return this.#runs.result
  }

  /**
   * Sends a message. An active run gets it at its next turn; otherwise a run begins. Returns a view of everything from
   * this message until the run that answers it ends. The run goes on whether or not the view is read.
   */
  send(message: string | ContentBlock[] | UserMessage, { interrupt = false }: SendOptions = {}): SessionView {
    this.#assertOpen()
    const sent = { ...newSent(readSent(message)), isInterrupt: interrupt }
    this.#journal?.append({ t: 'message.sent', message: sent.message })
    this.#runs.send(sent)
    // a run that is busy may not need its log for a long time
    void this.#journal?.flush()
    return new SessionView(this.#log, sent.span)
  }

  /** Resumes the work in the log: first the open turn, then waiting messages. Returns a view of the resumed run. */
  resume(): SessionView {
    this.#assertOpen()
    return new SessionView(this.#log, this.#runs.resume())
  }

  /**
   * Stops cleanly and keeps everything: no further request, and what is under way may go on for `graceMs`, with
   * `Infinity` until it ends. Then the reply is cut off and bodies get their signal, with the reason `'suspend'`. Resolves when nothing runs any more, apart from
   * remote bodies in the background: they go on, and the resumed session attaches to them.
   */
  async suspend({ graceMs = 0 }: { graceMs?: number | undefined } = {}): Promise<void> {
    if (this.#journal === undefined) {
      const message = 'Only a session with a journal can be suspended. Open it with openSession.'
      throw new SignalboxError('not_persistable', message)
    }
    checkOption('graceMs', graceMs, milliseconds)
    this.#runs.suspend(graceMs)
    await Promise.all([this.whenIdle(), this.#background.whenIdle(graceMs)])
    // what runs before this one have left in the background, unless somebody has resumed it meanwhile
    if (this.#runs.isPaused) await this.#background.suspend()
    await this.#journal.flush()
  }

  /** Everything that waits for a person, questions of agents included. */
  questions(): SessionQuestion[] {
    return this.#journal === undefined ? this.#questions.questions : allQuestions(this.#journal, this.#questions)
  }

  /**
   * Answers a question. `stale`: it was answered before, its call is over, or its input has changed. With a journal, the
   * answer is durable when this resolves. `by` names the person who answered.
   */
  async answer(
    id: string,
    answer: PermissionAnswer,
    { by }: { by?: string | undefined } = {},
  ): Promise<'accepted' | 'stale'> {
    checkAnswer(answer)
    checkAddedRules(answer, this.#options.tools)
    // a query that a tool itself began has no log: its question ends with the call
    const isOpen = (question: SessionQuestion): boolean => question.id === id
    const isRecorded = this.#journal?.questions.some(isOpen) === true || !this.#questions.questions.some(isOpen)
    if (this.#journal !== undefined && isRecorded) return this.#journal.answer(id, answer, by)
    return this.#questions.answer(id, answer) ? 'accepted' : 'stale'
  }

  /** Interrupts the active run, like `interrupt` of a query. */
  interrupt(message?: string | ContentBlock[] | UserMessage): void {
    if (message !== undefined) void this.send(message, { interrupt: true })
    else this.#runs.active?.query.interrupt()
  }

  /** Sends a running call to the background. Returns false if it does not run, or too many are there. */
  detach(toolUseID: string, how?: string | DetachOptions): boolean {
    return this.#runs.active?.query.detach(toolUseID, how) === true
  }

  /** Stops the active run: the model and every call, those in the background too. */
  abort(reason?: unknown): void {
    if (reason !== 'interrupt') this.#background.stopAll(reason, false)
    this.#runs.active?.query.abort(reason)
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
    const { length } = messages
    const context =
      at === undefined || last === undefined
        ? this.context
        : this.#contexts.at(this.#log.after(last.uuid), length <= this.#found ? length : undefined)
    if (this.#journal === undefined) return new Session({ ...this.#options, id, messages, context })
    const forkId = id ?? `session_${defaultIdsAndTime.uuid()}`
    const journal = await this.#journal.fork(forkId, {
      messages,
      rules: context.permissions,
      ...keptOf(context, this.#journal.contextKeys),
    })
    return new Session({ ...this.#options, id: forkId, messages: undefined, context }, journal)
  }

  /** Resolves when no run is active. */
  async whenIdle(): Promise<void> {
    await this.#runs.whenIdle()
  }

  /** Ends the active run and every view; with a journal, the run is suspended. Resolves when nothing runs any more. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Listens to events of the session. Returns a function that removes the listener. */
  on<Type extends keyof SessionEvents>(type: Type, listener: (event: SessionEvents[Type]) => void): () => void {
    checkListener(type, listener, sessionEventTypes)
    return this.#emitter.on(type, listener)
  }

  /** Handles a note from another process, or from an answer in this one. */
  #hear(journal: SessionJournal, note: SessionNote): void {
    if (note.type === 'answer') {
      const isTaken = this.#questions.answer(note.question, note.answer, { by: note.by, note: note.question })
      if (!isTaken && !journal.takeAnswer(note))
        journal.append({ t: 'note.taken', optional: true, note: note.question })
      else this.#runs.goOn()
    } else if (note.type === 'message') {
      const message = { ...readSent(note.content as string), uuid: note.uuid }
      journal.append({ t: 'message.sent', message, note: note.uuid })
      this.#runs.accept({ ...newSent(message, this.#opener), isInterrupt: note.interrupt === true })
    } else this.#abortBy(journal, note)
  }

  #abortBy(journal: SessionJournal, { uuid, reason }: Extract<SessionNote, { type: 'abort' }>): void {
    // the note stays where it is, for whoever opens the session next
    if (this.#closing !== undefined) return
    // a run that was suspended has calls without results: they get them as the run ends
    if (this.#runs.active === undefined && journal.turn !== undefined) this.resume()
    if (this.#runs.active === undefined) return journal.append({ t: 'note.taken', optional: true, note: uuid })
    journal.endsBy(uuid)
    this.abort(reason)
  }

  async #close(): Promise<void> {
    this.#runs.close()
    this.#background.leave()
    if (this.#journal === undefined) this.abort('session_closed')
    else this.#runs.suspend(0)
    await this.whenIdle()
    await this.#background.close('session_closed')
    await this.#journal?.close().catch(() => undefined)
    this.#contexts.host.delete(this.#onHostAbort)
    this.#log.close()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new SignalboxError('session_closed', `Session ${this.id} is closed.`)
  }
}
