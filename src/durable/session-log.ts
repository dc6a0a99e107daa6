import { isSignalboxError } from '../base/signalbox-error.ts'
import { version } from '../base/version.ts'
import type { Journal, JournalStore, NewRecord, SessionNote } from '../journal/journal.ts'
import { journalError } from '../journal/journal-errors.ts'
import { judgeReply, type LoggedBackground, type OpenTurn } from '../journal/open-turn.ts'
import type { RecordType, SessionRecord } from '../journal/records.ts'
import type { AgentAttempt, AgentOf } from '../journal/run-log.ts'
import type { Message, SystemMessage, UserMessage } from '../messages/message.ts'
import { type PermissionLists, withRules } from '../permission/permission-settings.ts'
import { questionId, type SessionQuestion } from '../query/session/question-book.ts'
import type { JournalStart, SessionJournal } from '../query/session/session-journal.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { CutRequest } from '../usage/account.ts'
import type { Prices, RunUsage, Spent } from '../usage/usage-total.ts'
import { agentId, outerOf, refuseAgent, takenId } from './agent-ids.ts'
import { AgentLogs } from './agent-logs.ts'
import { foldInto, SessionFold } from './session-fold.ts'
import { writable } from './writable-record.ts'

export interface SessionLogOptions {
  readonly store: JournalStore
  readonly owner: string
  readonly contextKeys: readonly string[]
  readonly prices?: Prices | undefined
  /** The log of the session that this one is an agent of. */
  readonly outer?: SessionLog | undefined
}

/** A record that a resumed session can do without: it finds a turn complete, and commits it again. */
const isMark = (record: SessionRecord): boolean =>
  record.t === 'turn.committed' || (record.t === 'usage.spent' && isTime(record.spent))

/** Requests, calls and agents count against limits, so they are durable before the next request. */
const isTime = ({ request, calls, agents }: Spent): boolean =>
  request === undefined && calls === undefined && agents === undefined

const closesQuestions = new Set<string>([
  'permission.answered',
  'call.completed',
  'attempt.discarded',
  'run.ended',
] satisfies RecordType[])

/** The log of one session, and its state after each record. */
export class SessionLog implements SessionJournal {
  readonly contextKeys: readonly string[]
  readonly #journal: Journal
  readonly #options: SessionLogOptions
  readonly #fold: SessionFold
  readonly #listeners = new Set<(error: unknown) => void>()
  readonly #agents = new AgentLogs()
  /** Agents that are being let go of. */
  readonly #releases = new Set<Promise<void>>()
  /** Agents whose logs are being opened. */
  readonly #openings = new Set<Promise<unknown>>()
  #stopNotes: () => void = () => undefined
  #onAgentAnswer: (() => void) | undefined
  #onQuestionClosed: (() => void) | undefined
  #recovered: SessionJournal['recovered']
  #failure: unknown
  /** The length of the log, and its length after the last record with content. */
  #length: number
  #content = 0
  /** A commit that records wait for. */
  #flushing: { readonly commit: Promise<void>; readonly isDurable: Promise<boolean> } | undefined
  #endsBy: string | undefined
  #reports: SystemMessage[] = []

  private constructor(journal: Journal, options: SessionLogOptions) {
    this.#journal = journal
    this.#options = options
    this.contextKeys = options.contextKeys
    this.#length = journal.records.length
    this.#fold = foldInto(new SessionFold(options.prices), journal.id, journal.records)
    const [from, by] = this.#fold.owners.slice(-2)
    if (this.#fold.isUnfinished && from !== undefined && by !== undefined) this.#recovered = { from, by }
    journal.onFailure?.((error) => void this.#fail(error))
  }

  static async open(
    id: string,
    options: SessionLogOptions,
    mode: 'create' | 'resume' | 'either',
    created: JournalStart & Record<string, unknown>,
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
      await log.#openAgents()
      return log
    } catch (error) {
      await (log?.shut() ?? journal.close()).catch(() => undefined)
      throw error
    }
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
    return this.#fold.hasAnswered || this.#agents.logs.some(({ hasAnswered }) => hasAnswered)
  }

  /** Those of agents hold here too, also if this log did not come to record them. */
  get rules(): PermissionLists {
    return this.#agents.logs.reduce((rules, agent) => withRules(rules, agent.rules), this.#fold.rules)
  }

  get context(): Readonly<Record<string, unknown>> {
    return this.#fold.context
  }

  get usage(): RunUsage {
    return this.#fold.usage.usage
  }

  get cutRequests(): readonly CutRequest[] {
    return [...this.#fold.requests.values()].map((opened) => ({
      ...opened,
      isTurn: opened.by !== undefined && this.#logOf(opened.by)?.hasCutReply === true,
    }))
  }

  /** Its last reply was cut off, and counts as far as it came. */
  get hasCutReply(): boolean {
    const { turn } = this.#fold
    return turn !== undefined && judgeReply(turn) === 'cutOff'
  }

  /** This log, or the one of an agent inside. */
  #logOf(session: string): SessionLog | undefined {
    if (session === this.session) return this
    for (const agent of this.#agents.logs) {
      const found = agent.#logOf(session)
      if (found !== undefined) return found
    }
    return undefined
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
    return this.#failure
  }

  get questions(): readonly SessionQuestion[] {
    return [...this.#fold.openQuestions, ...this.#agents.questions]
  }

  hasReply(id: string): boolean {
    return this.#fold.replies.has(id)
  }

  append(record: SessionRecord): void {
    if (this.#failure !== undefined) return
    const note = record.t === 'run.ended' ? this.#endsBy : undefined
    const whole = (note === undefined ? record : { ...record, note }) as unknown as NewRecord
    const { value, json } = writable(whole)
    this.#journal.append(value, json)
    this.#length++
    if (!isMark(record)) this.#content = this.#length
    this.#fold.take(whole)
    if (record.t === 'run.ended') this.#recovered = undefined
    if (!this.#agents.isEmpty) this.#releaseEnded()
    if (closesQuestions.has(record.t)) this.#questionClosed()
  }

  /** An agent whose call is over never goes on. */
  #releaseEnded(): void {
    for (const id of this.#agents.ids) if (!this.#fold.agents.has(id)) void this.#letGo(id)
  }

  #questionClosed(): void {
    this.#onQuestionClosed?.()
    const { outer } = this.#options
    if (outer !== undefined) outer.#questionClosed()
  }

  flush(isAlone = false): Promise<boolean> | undefined {
    if (this.#failure !== undefined) return Promise.resolve(false)
    const commit = this.#journal.flush(isAlone)
    if (commit === undefined) return undefined
    // calls that end together wait for the same commit
    if (commit !== this.#flushing?.commit) this.#flushing = { commit, isDurable: this.#follow(commit) }
    return this.#flushing.isDurable
  }

  flushContent(): Promise<boolean> | undefined {
    const isDurable = this.#failure === undefined && (this.#journal.durable ?? 0) >= this.#content
    return isDurable ? undefined : this.flush()
  }

  #follow(commit: Promise<void>): Promise<boolean> {
    return commit.then(
      () => this.#failure === undefined,
      (error: unknown) => this.#fail(error),
    )
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
    const agent = this.#fold.questions.has(question) ? undefined : this.#agents.find(question)
    if (agent !== undefined) return agent.answer(question, answer, by)
    // the store knows a question only when it is durable
    if ((await this.flush()) === false) throw this.#failure
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

  endsBy(note: string): void {
    this.#endsBy ??= note
  }

  fork(id: string, start: JournalStart): Promise<SessionLog> {
    return SessionLog.open(id, { ...this.#options, outer: undefined }, 'create', { ...start })
  }

  openAgent(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionLog> {
    const opening = this.#openAgent(of, created)
    this.#openings.add(opening)
    const forget = (): void => void this.#openings.delete(opening)
    opening.then(forget, forget)
    return opening
  }

  async #openAgent(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionLog> {
    const isSame = ({ reply, call }: AgentOf): boolean => reply === of.reply && call === of.call
    const before = [...this.#fold.agents.values()].filter(isSame).length
    const id = agentId(this.session, of, of.isRetry ? before + 1 : Math.max(before, 1))
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    // an opening of this session finds every agent that there may be
    this.append({ t: 'agent.started', optional: true, reply: of.reply, call: of.call, tool: of.tool, session: id })
    if ((await this.flush()) === false) throw this.#failure
    const around = await outerOf(id, this.#options.store)
    if (around !== null && around !== this.session) throw takenId(id, this.session)
    return this.#addAgent(id, of, 'either', created)
  }

  /** The log of an agent that has not ended stays open: its questions wait for answers. */
  async close(): Promise<void> {
    const { outer } = this.#options
    if (outer === undefined) return this.shut()
    this.#onAgentAnswer = undefined
    this.#onQuestionClosed = undefined
    if (this.ended === undefined && this.#failure === undefined) this.#hearAnswers()
    else await outer.#letGo(this.session)
  }

  #letGo(id: string): Promise<void> {
    const release = this.#release(id)
    this.#releases.add(release)
    return release.finally(() => this.#releases.delete(release))
  }

  /** Lets go of the log of an agent. Its rules hold here; what it had not finished is over. */
  async #release(id: string): Promise<void> {
    const agent = this.#agents.remove(id)
    if (agent === undefined) return
    const { rules } = agent
    if (hasMore(rules, this.#fold.rules)) this.append({ t: 'rules.added', optional: true, session: id, rules })
    const ended = { t: 'agent.ended', optional: true, session: id } as const
    if (agent.ended !== undefined) this.append(ended)
    if (agent.isUnfinished) agent.append({ t: 'run.ended', reason: 'aborted_tools', took: agent.waiting, messages: [] })
    try {
      await agent.shut()
      // only now: until the end is durable, an opening of this session makes up for it
      if (this.#fold.unended.has(id) && agent.ended !== undefined) this.append(ended)
    } catch {
      // the log of the agent has failed: the next opening of this session ends it
    }
  }

  /** Closes the log and those of all agents inside. */
  async shut(): Promise<void> {
    this.#stopNotes()
    // a body that was left behind may be opening an agent
    await Promise.allSettled(this.#openings)
    await Promise.all(this.#releases)
    await this.#agents.close()
    await this.#journal.close()
  }

  /** First of all, so that no earlier owner goes on with them. A process that ended may have left an agent whose call is over. */
  async #openAgents(): Promise<void> {
    for (const { session, ...of } of new Map([...this.#fold.agents, ...this.#fold.unended]).values()) {
      try {
        await this.#addAgent(session, of, 'resume', {})
        if (!this.#fold.agents.has(session)) await this.#letGo(session)
      } catch (error) {
        // the process ended before the agent began
        if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
      }
    }
  }

  async #addAgent(
    id: string,
    { call, tool }: AgentOf,
    mode: 'resume' | 'either',
    created: object,
  ): Promise<SessionLog> {
    const start = { ...created, messages: [], outer: this.session }
    const log = await SessionLog.open(id, { ...this.#options, outer: this }, mode, start)
    log.#markCounted()
    this.#agents.add(id, { log, call: { toolUseID: call, toolName: tool } })
    log.#hearAnswers()
    return log
  }

  /** A process that ended may have counted calls whose turn this log does not call over: it goes on, and they count once. */
  #markCounted(): void {
    const { turn } = this.#fold
    if (turn === undefined || this.#outermost.#fold.counted.get(this.session) !== turn.reply) return
    for (const past of turn.calls.values()) past.isCounted = true
  }

  /** While no session runs on this log. Other notes wait for one that does. */
  #hearAnswers(): void {
    this.onNote((note) => {
      if (note.type !== 'answer') return
      if (!this.takeAnswer(note)) this.append({ t: 'note.taken', optional: true, note: note.question })
      this.#options.outer?.agentAnswered()
    })
  }

  agentLog(id: string): SessionLog | undefined {
    return this.#agents.get(id)
  }

  /** An agent, however deep inside, has an answer to go on with. */
  agentAnswered(): void {
    this.#onAgentAnswer?.()
    this.#options.outer?.agentAnswered()
  }

  #fail(cause: unknown): false {
    if (this.#failure !== undefined) return false
    this.#failure = isSignalboxError(cause) ? cause : journalError(this.#journal.id, cause)
    for (const listener of [...this.#listeners]) listener(this.#failure)
    // a session and its agents can go on only together
    for (const agent of this.#agents.logs) agent.#fail(cause)
    const { outer } = this.#options
    // an agent whose own log is full has failed; the session around it can record that and go on
    const isOwnLimit = isSignalboxError(cause) && cause.code === 'journal_full'
    if (outer?.agentLog(this.session) === this && !isOwnLimit) outer.#fail(cause)
    return false
  }
}

const isOver = ({ outcome }: LoggedBackground): boolean => outcome !== undefined

const hasMore = (rules: PermissionLists, known: PermissionLists): boolean =>
  (['allow', 'ask', 'deny'] as const).some((list) =>
    rules[list]?.some((rule) => !(known[list] as readonly unknown[] | undefined)?.includes(rule)),
  )
