import { isSignalboxError } from '../base/signalbox-error.ts'
import type { Journal, JournalStore, NewRecord, SessionNote } from '../journal/journal.ts'
import { journalError } from '../journal/journal-errors.ts'
import type { OpenTurn } from '../journal/open-turn.ts'
import type { SessionRecord } from '../journal/records.ts'
import type { Message, UserMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import { questionId, type SessionQuestion } from '../query/session/question-book.ts'
import type { JournalStart, SessionJournal } from '../query/session/session-journal.ts'
import type { ModelPrice, SessionUsage } from '../query/session/usage.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import { foldInto, SessionFold } from './session-fold.ts'
import { writable } from './writable-record.ts'

export interface SessionLogOptions {
  readonly store: JournalStore
  readonly owner: string
  readonly contextKeys: readonly string[]
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined
}

/** The log of one session, and its state after each record. */
export class SessionLog implements SessionJournal {
  readonly contextKeys: readonly string[]
  readonly #journal: Journal
  readonly #options: SessionLogOptions
  readonly #fold: SessionFold
  readonly #listeners = new Set<(error: unknown) => void>()
  #failure: unknown
  #endsBy: string | undefined

  private constructor(journal: Journal, options: SessionLogOptions) {
    this.#journal = journal
    this.#options = options
    this.contextKeys = options.contextKeys
    this.#fold = foldInto(new SessionFold(options.prices), journal.id, journal.records)
  }

  static async open(
    id: string,
    options: SessionLogOptions,
    mode: 'create' | 'resume' | 'either',
    created: JournalStart & Record<string, unknown>,
  ): Promise<SessionLog> {
    const journal = await options.store.open(id, { owner: options.owner, mode, created: writable(created) })
    try {
      return new SessionLog(journal, options)
    } catch (error) {
      await journal.close().catch(() => undefined)
      throw error
    }
  }

  get session(): string {
    return this.#journal.id
  }

  get transcript(): readonly Message[] {
    return this.#fold.transcript.messages
  }

  get sent(): readonly UserMessage[] {
    return this.#fold.waiting
  }

  get waiting(): readonly string[] {
    return this.#fold.waiting.map(({ uuid }) => uuid)
  }

  get isUnfinished(): boolean {
    return this.#fold.isUnfinished
  }

  get hasAnswered(): boolean {
    return this.#fold.hasAnswered
  }

  get rules(): PermissionLists {
    return this.#fold.rules
  }

  get context(): Readonly<Record<string, unknown>> {
    return this.#fold.context
  }

  get usage(): SessionUsage {
    return this.#fold.usage.total
  }

  get turn(): OpenTurn | undefined {
    return this.#fold.turn
  }

  get turns(): number {
    return this.#fold.result === undefined ? this.#fold.turns : 0
  }

  get usesFallback(): boolean {
    return this.#fold.result === undefined && this.#fold.usesFallback
  }

  get failure(): unknown {
    return this.#failure
  }

  get questions(): readonly SessionQuestion[] {
    return this.#fold.openQuestions
  }

  append(record: SessionRecord): void {
    if (this.#failure !== undefined) return
    const note = record.t === 'run.ended' ? this.#endsBy : undefined
    const whole = { ...record, ...(note !== undefined && { note }) }
    this.#journal.append(writable(whole) as unknown as NewRecord)
    this.#fold.take(whole as unknown as NewRecord)
  }

  flush(): Promise<boolean> | undefined {
    if (this.#failure !== undefined) return Promise.resolve(false)
    return this.#journal.flush()?.then(
      () => this.#failure === undefined,
      (error: unknown) => this.#fail(error),
    )
  }

  onFailure(listener: (error: unknown) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  questionId(reply: string, call: string, input: unknown): string {
    return questionId([this.#journal.id, reply, call], input)
  }

  offer(question: string, answer: PermissionAnswer): void {
    // a store that fails here fails the log too, and the question stays open
    this.answer(question, answer, 'host').catch(() => undefined)
  }

  async answer(question: string, answer: PermissionAnswer, by: string | undefined): Promise<'accepted' | 'stale'> {
    // the store knows a question only when it is durable
    if ((await this.flush()) === false) throw this.#failure
    const note = { type: 'answer', question, answer, ...(by !== undefined && { by }) } as const
    return this.#options.store.post(this.#journal.id, note)
  }

  onNote(listener: (note: SessionNote) => void): void {
    this.#journal.onNote(listener)
  }

  takeAnswer({ question, answer, by }: Extract<SessionNote, { type: 'answer' }>): boolean {
    const found = this.#fold.questions.get(question)
    if (found === undefined) return false
    const { reply, call } = found
    this.append({ t: 'permission.answered', reply, call, question, answer, by, note: question })
    return true
  }

  endsBy(note: string): void {
    this.#endsBy ??= note
  }

  fork(id: string, start: JournalStart): Promise<SessionLog> {
    return SessionLog.open(id, this.#options, 'create', { ...start })
  }

  close(): Promise<void> {
    return this.#journal.close()
  }

  #fail(cause: unknown): false {
    if (this.#failure !== undefined) return false
    this.#failure = isSignalboxError(cause) ? cause : journalError(this.#journal.id, cause)
    for (const listener of [...this.#listeners]) listener(this.#failure)
    return false
  }
}
