import { isSignalboxError } from '../base/signalbox-error.ts'
import { version } from '../base/version.ts'
import type { Journal, JournalStore, SessionNote } from '../journal/journal.ts'
import { judgeReply, type LoggedBackground, type OpenTurn } from '../journal/open-turn.ts'
import type { RecordType, SessionRecord } from '../journal/records.ts'
import type { AgentAttempt } from '../journal/run-log.ts'
import type { Message, SystemMessage, UserMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import { questionId, type SessionQuestion } from '../query/session/question-book.ts'
import type { JournalStart, SessionJournal } from '../query/session/session-journal.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { CutRequest } from '../usage/account.ts'
import type { Prices, RunUsage } from '../usage/usage-total.ts'
import { refuseAgent } from './agent-ids.ts'
import { AgentLogs, type OpenAgentLog } from './agent-logs.ts'
import { lostChanges } from './lost-changes.ts'
import type { SessionFold } from './session-fold.ts'
import { SessionRecords } from './session-records.ts'
import { writable } from './writable-record.ts'

export interface SessionLogOptions {
  readonly store: JournalStore
  readonly owner: string
  readonly contextKeys: readonly string[]
  readonly prices?: Prices | undefined
  /** The log of the session that this one is an agent of. */
  readonly outer?: SessionLog | undefined
}

const closesQuestions = new Set<string>([
  'permission.answered',
  'call.completed',
  'attempt.discarded',
  'run.ended',
] satisfies RecordType[])

/**
 * The log of one session: what a run and a session read of its state and write to it. `SessionRecords` writes the records
 * and derives the state, `AgentLogs` keeps the logs of the agents inside; this class connects them with each other, with
 * the notes of the store and with the log around it.
 */
export class SessionLog implements SessionJournal {
  readonly contextKeys: readonly string[]
  readonly #journal: Journal
  readonly #options: SessionLogOptions
  readonly #records: SessionRecords
  readonly #agents: AgentLogs
  #stopNotes: () => void = () => undefined
  #onAgentAnswer: (() => void) | undefined
  #onQuestionClosed: (() => void) | undefined
  #recovered: SessionJournal['recovered']
  #endsBy: string | undefined
  #reports: SystemMessage[] = []

  private constructor(journal: Journal, options: SessionLogOptions) {
    this.#journal = journal
    this.#options = options
    this.contextKeys = options.contextKeys
    this.#records = new SessionRecords(journal, options.prices, {
      recorded: (record) => this.#recorded(record),
      failed: (cause) => this.#failed(cause),
    })
    const openAgent: OpenAgentLog = (id, mode, created) =>
      SessionLog.open(id, { ...options, outer: this }, mode, created)
    this.#agents = new AgentLogs(this.#records, options.store, openAgent)
    const [from, by] = this.#fold.owners.slice(-2)
    if (this.#fold.isUnfinished && from !== undefined && by !== undefined) this.#recovered = { from, by }
    journal.onFailure?.((error) => void this.#records.fail(error))
  }

  static async open(
    id: string,
    options: SessionLogOptions,
    mode: 'create' | 'resume' | 'either',
    created: Readonly<Record<string, unknown>>,
  ): Promise<SessionLog> {
    const { store, owner, outer } = options
    if (outer === undefined) await refuseAgent(id, store)
    const within = outer === undefined ? undefined : outer.#journal.opening
    // for people: which version wrote the first record
    const first = writable({ signalbox: version, ...created }).value
    const journal = await store.open(id, { owner, mode, created: first, within })
    let log: SessionLog | undefined
    try {
      log = new SessionLog(journal, options)
      await log.#agents.openAll()
      log.#markCounted()
      return log
    } catch (error) {
      await (log?.shut() ?? journal.close()).catch(() => undefined)
      throw error
    }
  }

  /** A process that ended may have counted calls whose turn this log does not call over: it goes on, and they count once. */
  #markCounted(): void {
    const { turn } = this.#fold
    if (turn === undefined || this.#outermost.#fold.counted.get(this.session) !== turn.reply) return
    for (const past of turn.calls.values()) past.isCounted = true
  }

  get #fold(): SessionFold {
    return this.#records.fold
  }

  get session(): string {
    return this.#journal.id
  }

  get ended(): SessionJournal['ended'] {
    return this.#fold.isUnfinished ? undefined : this.#fold.result
  }

  get transcript(): readonly Message[] {
    return this.#fold.transcript.messages
  }

  get reported(): ReadonlyMap<string, string> {
    return this.#fold.reports
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

  get isCounted(): boolean {
    return this.#outermost.#fold.counted.has(this.session)
  }

  get #outermost(): SessionLog {
    return this.#options.outer === undefined ? this : this.#options.outer.#outermost
  }

  get hasAnswered(): boolean {
    return this.#fold.hasAnswered || this.#agents.hasAnswered
  }

  /** The rules of agents hold here too, also if this log did not come to record them. */
  get rules(): PermissionLists {
    return this.#agents.rulesWith(this.#fold.rules)
  }

  /** Calls of a reply that is discarded when the session is resumed have changed nothing. */
  get context(): Readonly<Record<string, unknown>> {
    const { turn, context } = this.#fold
    const isDiscarded = turn !== undefined && judgeReply(turn) === 'discarded'
    return isDiscarded ? (turn.contextBefore ?? context) : context
  }

  stateAt(length: number): ReturnType<SessionJournal['stateAt']> {
    return this.#fold.stateAt(length)
  }

  get usage(): RunUsage {
    return this.#fold.usage.usage
  }

  get cutRequests(): readonly CutRequest[] {
    return [...this.#fold.requests.values()].map((opened) => ({
      ...opened,
      isTurn: opened.by !== undefined && this.withSession(opened.by)?.hasCutReply === true,
    }))
  }

  /** Its last reply was cut off, and counts as far as it came. */
  get hasCutReply(): boolean {
    const { turn } = this.#fold
    return turn !== undefined && judgeReply(turn) === 'cutOff'
  }

  /** This log, or the one of an agent inside. */
  withSession(session: string): SessionLog | undefined {
    return session === this.session ? this : this.#agents.withSession(session)
  }

  get turn(): OpenTurn | undefined {
    return this.#fold.turn
  }

  get background(): readonly LoggedBackground[] {
    const all = [...this.#fold.background.values()]
    // those that are not over yet end after the others
    return [...all.filter(isOver), ...all.filter((logged) => !isOver(logged))]
  }

  get backgroundCount(): number {
    return this.#fold.backgroundCount
  }

  get turns(): number {
    return this.#fold.result === undefined ? this.#fold.turns : 0
  }

  get usesFallback(): boolean {
    return this.#fold.result === undefined && this.#fold.usesFallback
  }

  get recovered(): SessionJournal['recovered'] {
    return this.#recovered
  }

  get failure(): unknown {
    return this.#records.failure
  }

  get questions(): readonly SessionQuestion[] {
    return [...this.#fold.openQuestions, ...this.#agents.questions]
  }

  lostChanges(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
    return lostChanges(before, after, this.contextKeys)
  }

  hasReply(id: string): boolean {
    return this.#fold.replies.has(id)
  }

  append(record: SessionRecord): void {
    this.#records.append(record, this.#endsBy)
  }

  flush(isAlone = false): Promise<boolean> | undefined {
    return this.#records.flush(isAlone)
  }

  flushContent(): Promise<boolean> | undefined {
    return this.#records.flushContent()
  }

  #recorded({ t }: SessionRecord): void {
    if (t === 'run.ended') this.#recovered = undefined
    this.#agents.letGoOfEnded()
    if (closesQuestions.has(t)) this.#questionClosed()
  }

  /** This opening has created the session: the first run tells the host these. */
  report(reports: readonly SystemMessage[]): void {
    const [created, opened, ...more] = this.#journal.records
    if (created !== undefined && opened !== undefined && more.length === 0) this.#reports.push(...reports)
  }

  takeReports(): SystemMessage[] {
    return this.#reports.splice(0)
  }

  onFailure(listener: (error: unknown) => void): () => void {
    return this.#records.onFailure(listener)
  }

  questionId(reply: string, call: string, input: unknown): string {
    return questionId([this.#journal.id, reply, call], input)
  }

  offer(question: string, answer: PermissionAnswer): void {
    // a store that fails here fails the log too, and the question stays open
    this.answer(question, answer, 'host').catch(() => undefined)
  }

  async answer(question: string, answer: PermissionAnswer, by: string | undefined): Promise<'accepted' | 'stale'> {
    const agent = this.#fold.questions.has(question) ? undefined : this.#agents.withQuestion(question)
    if (agent !== undefined) return agent.answer(question, answer, by)
    // the store knows a question only when it is durable
    if ((await this.flush()) === false) throw this.failure
    const note = { type: 'answer', question, answer, ...(by !== undefined && { by }) } as const
    return this.#options.store.post(this.#journal.id, note)
  }

  onNote(listener: (note: SessionNote) => void): void {
    this.#stopNotes()
    this.#stopNotes = this.#journal.onNote(listener)
  }

  onQuestionClosed(listener: () => void): void {
    this.#onQuestionClosed = listener
  }

  onAgentAnswer(listener: () => void): void {
    this.#onAgentAnswer = listener
  }

  takeAnswer({ question, answer, by }: Extract<SessionNote, { type: 'answer' }>): boolean {
    const found = this.#fold.questions.get(question)
    if (found === undefined) return false
    const { reply, call } = found
    this.append({ t: 'permission.answered', reply, call, question, answer, by, note: question })
    return true
  }

  /** While no session runs on this log. Other notes wait for one that does. */
  hearAnswers(): void {
    this.onNote((note) => {
      if (note.type !== 'answer') return
      if (!this.takeAnswer(note)) this.append({ t: 'note.taken', optional: true, note: note.question })
      this.#options.outer?.agentAnswered()
    })
  }

  endsBy(note: string): void {
    this.#endsBy ??= note
  }

  fork(id: string, start: JournalStart): Promise<SessionLog> {
    return SessionLog.open(id, { ...this.#options, outer: undefined }, 'create', { ...start })
  }

  openAgent(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionLog> {
    return this.#agents.open(of, created)
  }

  /** The log of an agent that has not ended stays open: its questions wait for answers. */
  async close(): Promise<void> {
    const { outer } = this.#options
    if (outer === undefined) return this.shut()
    this.#onAgentAnswer = undefined
    this.#onQuestionClosed = undefined
    if (this.ended === undefined && this.failure === undefined) this.hearAnswers()
    else await outer.#agents.letGo(this.session)
  }

  /** Closes the log and those of all agents inside. */
  async shut(): Promise<void> {
    this.#stopNotes()
    await this.#agents.close()
    await this.#journal.close()
  }

  #questionClosed(): void {
    this.#onQuestionClosed?.()
    const { outer } = this.#options
    if (outer !== undefined) outer.#questionClosed()
  }

  /** An agent, however deep inside, has an answer to go on with. */
  agentAnswered(): void {
    this.#onAgentAnswer?.()
    this.#options.outer?.agentAnswered()
  }

  #failed(cause: unknown): void {
    // a session and its agents can go on only together
    for (const agent of this.#agents.logs) agent.#records.fail(cause)
    const { outer } = this.#options
    // an agent whose own log is full has failed; the session around it can record that and go on
    const isOwnLimit = isSignalboxError(cause) && cause.code === 'journal_full'
    if (outer !== undefined && outer.#agents.get(this.session) === this && !isOwnLimit) outer.#records.fail(cause)
  }
}

const isOver = ({ outcome }: LoggedBackground): boolean => outcome !== undefined
