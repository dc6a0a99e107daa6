import type { ActorRefFrom } from 'xstate'
import {
  type LimitReached,
  type QueryEnding,
  type QueryEvent,
  type QueryMachine,
  type QueryPort,
  queryChart,
} from '../../machines/index.ts'
import { BackgroundCalls } from '../background/background-calls.ts'
import { captureContext } from '../base/async-context.ts'
import { AsyncQueue } from '../base/async-queue.ts'
import { Outbox } from '../base/outbox.ts'
import type { MessageUpdate } from '../executor/delivery.ts'
import { HostAbort } from '../executor/host-abort.ts'
import { readOptions, type Settings } from '../executor/options.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { RunLog } from '../journal/run-log.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message, ProgressMessage, SystemMessage, UserMessage } from '../messages/message.ts'
import { RequestMessages } from '../messages/request-messages.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account, Claim, LimitedRun } from '../usage/account.ts'
import { checkModel } from '../usage/limits.ts'
import { abandon } from './abandoning.ts'
import { Attempt, type AttemptHost } from './attempt.ts'
import { AttemptSetup } from './attempt-setup.ts'
import { conclude } from './concluding.ts'
import { abortTools, checkStalled, commitTurn, drain } from './draining.ts'
import { LoopGuard } from './loop-guard.ts'
import { ModelChoice } from './model-choice.ts'
import type { ModelStream } from './model-stream.ts'
import { OpenCalls, runOpenCalls } from './open-calls.ts'
import { checkOptions, type QueryOptions, readMessages } from './options.ts'
import { prepare } from './preparing.ts'
import type { QueryMessage, QueryResult } from './query-message.ts'
import { recover } from './recovering.ts'
import { ReplyAssembler } from './reply-assembler.ts'
import { type LastInput, leaveReserve, reserve } from './reserving.ts'
import { cutReply, discardAttempt, discardRefusal, discardReply, OldBodies, startBackoff } from './retrying.ts'
import { accountOf, type OpenRequest, stopForLimit, tellLimitNear } from './spending.ts'
import { closeReply, openStream } from './streaming.ts'
import { haltTools, startSuspendGrace } from './suspending.ts'
import { Transcript } from './transcript.ts'

/** How many messages may wait for a reader before the model has to wait. */
const outgoingRoom = 1_000
/** A reply that is repeatedly cut off before any of its calls can run will not get better. */
const mostFruitlessTurns = 3

/**
 * One query: its chart, and around it the code that does the chart's work. The code of a state is in the file of its name;
 * each request of the chart goes to the outbox, so that it runs between steps.
 */
export class QueryLoop implements QueryPort, AttemptHost, LimitedRun {
  readonly outgoing = new AsyncQueue<QueryMessage, QueryResult>(outgoingRoom)
  readonly transcript: Transcript
  readonly actor: ActorRefFrom<QueryMachine>
  readonly isBatch: boolean
  readonly options: QueryOptions
  readonly settings: Settings
  readonly setup: AttemptSetup
  readonly choice: ModelChoice
  readonly oldBodies = new OldBodies()
  readonly openCalls: OpenCalls
  /** The calls that outlive their turn. Those of a session outlive the query too. */
  readonly background: BackgroundCalls
  /** What the run uses, its agents included. */
  readonly account: Account
  openRequest: OpenRequest | undefined
  /** What the next request, or the one under way, may use. */
  claim: Claim | undefined
  requestBytes = 0
  lastInput: LastInput | undefined
  readonly loopGuard: LoopGuard | undefined
  readonly sent: UserMessage[] = []
  /** The log of the session that this is a run of. */
  readonly log: RunLog | undefined
  /** Messages that entered the conversation since the last reply, by uuid. */
  readonly entered: string[] = []
  /** Called with each executor: there is one for each attempt at a reply. */
  onExecutor: ((executor: StreamingToolExecutor) => void) | undefined
  attempt: Attempt
  /** The attempt has not been used yet. */
  isFresh = true
  /** The user has sent a message with an interrupt. */
  isSteered = false
  /** The attempt whose model declined, until another one continues its reply. */
  handedOver: Attempt | undefined
  stream: ModelStream | undefined
  reply = new ReplyAssembler()
  /** The messages for the model. */
  request: readonly Message[] = []
  /** Converts them to the form of the API. Messages of earlier turns are converted once. */
  readonly requests = new RequestMessages()
  turns = 0
  fruitlessTurns = 0
  backoff: unknown
  suspendGrace: unknown
  stopHearingLog: () => void = () => undefined
  #reports: SystemMessage[] = []
  readonly #context = captureContext()
  readonly #outbox: Outbox
  readonly #hostAbort: HostAbort

  constructor(options: QueryOptions) {
    checkOptions(options)
    this.options = options
    this.log = options.journal
    this.settings = readOptions(options.executor)
    this.setup = new AttemptSetup(options)
    this.choice = new ModelChoice(options)
    this.account = accountOf(options, this.settings)
    for (const model of [options.model, options.fallbackModel]) checkModel(model, this.account, this.account.prices)
    this.isBatch = options.toolExecution === 'batch'
    this.turns = this.log?.turns ?? 0
    if (this.log?.usesFallback === true) this.choice.fallBack()
    this.openCalls = new OpenCalls(readMessages(options.messages), options.openCalls, this.idsAndTime)
    this.background = options.background ?? new BackgroundCalls(this.settings, options.maxBackground)
    if (this.log !== undefined) this.background.recordIn(this.log)
    this.background.listener = {
      ready: () => this.hearBackground(),
      progressed: (message) => this.showProgress(message),
      atRest: () => checkStalled(this),
    }
    this.transcript = new Transcript(this.openCalls.messages)
    const { loopGuard } = options
    if (loopGuard !== false) {
      const toolOf = (name: string): string => this.findTool(name)?.name ?? name
      this.loopGuard = new LoopGuard(loopGuard, this.transcript.messages, toolOf)
    }
    this.attempt = this.newAttempt()
    const { engine } = this.settings
    this.#outbox = new Outbox(engine.send, () => undefined)
    this.#hostAbort = new HostAbort(this.setup.context.abortController, (reason) => this.abort(reason))
    this.actor = engine.createRoot(queryChart(), { id: 'query', input: { port: this } }).start()
  }

  get executor(): StreamingToolExecutor {
    return this.attempt.executor
  }

  get context(): ToolUseContext {
    return this.setup.contextNow
  }

  start(): void {
    for (const message of this.openCalls.report()) this.outgoing.push(message)
    this.listenToHost(this.actor.getSnapshot().status === 'active')
    if (this.log !== undefined) this.#hearLog(this.log)
    // with an open turn, it is first decided whether its reply counts
    if (!this.hasOpenTurn) this.adoptBackground()
    this.account.join(this)
    this.tell({ type: 'query.start' })
  }

  suspend(graceMs: number): void {
    this.tell({ type: 'query.suspend', graceMs })
  }

  abort(reason: unknown): void {
    this.tell({ type: 'query.abort', reason })
  }

  steer(message: UserMessage): void {
    this.sent.push(message)
    this.isSteered = true
    this.tell({ type: 'query.steer' })
  }

  send(message: UserMessage): void {
    this.sent.push(message)
    const snapshot = this.actor.getSnapshot()
    if (snapshot.matches('awaiting') || snapshot.matches('reserving')) this.tell({ type: 'message.sent' })
  }

  /** Its background calls end with it. */
  get ownsBackground(): boolean {
    return this.options.background === undefined
  }

  hearBackground(): void {
    if (this.actor.getSnapshot().matches('awaiting')) this.tell({ type: 'background.finished' })
  }

  limitReached(reached: LimitReached, isHard: boolean): void {
    if (isHard) this.tell({ type: 'limit.stop', reached })
    this.tell({ type: 'limit.reached', reached })
  }

  limitNear(near: LimitReached): void {
    tellLimitNear(this, near)
  }

  /** Nobody may be reading, and a body can report for hours: beyond the room there is, only the newest output is kept. */
  showProgress(message: ProgressMessage): void {
    if (this.outgoing.room() === undefined) this.emit(message)
  }

  get hasOpenTurn(): boolean {
    return this.log?.turn !== undefined
  }

  get hasOpenCalls(): boolean {
    return this.openCalls.toRun.length > 0
  }

  get isHookStopped(): boolean {
    return this.attempt.isHookStopped
  }

  get needsAnotherTurn(): boolean {
    const { hasCalls, stopReason } = this.attempt
    if (this.sent.length > 0 || stopReason === 'pause_turn' || this.background.hasOutcome) return true
    return hasCalls && stopReason !== 'refusal' && this.fruitlessTurns < mostFruitlessTurns
  }

  get needsReserve(): boolean {
    return this.account.isLimited
  }

  get awaitsBackground(): boolean {
    return this.background.isAwaited
  }

  get isLastTurn(): boolean {
    return this.turns >= (this.options.maxTurns ?? Number.POSITIVE_INFINITY)
  }

  prepare = (): void => this.push(() => prepare(this))
  reserve = (): void => this.push(() => reserve(this))
  leaveReserve = (): void => this.push(() => leaveReserve(this))
  stopForLimit = (): void => this.push(() => stopForLimit(this))
  recover = (): void => this.push(() => recover(this))
  haltTools = (): void => this.push(() => haltTools(this))
  startSuspendGrace = (graceMs: number): void => this.push(() => startSuspendGrace(this, graceMs))
  abandon = (): void => this.push(() => abandon(this))
  runOpenCalls = (): void => this.push(() => runOpenCalls(this))
  openStream = (): void => this.push(() => openStream(this))
  stopModel = (): void => this.push(() => this.stream?.stop())
  closeReply = (isWhole: boolean): void => this.push(() => closeReply(this, isWhole))
  discardAttempt = (): void => this.push(() => discardAttempt(this))
  discardReply = (): void => this.push(() => discardReply(this))
  discardRefusal = (): void => this.push(() => discardRefusal(this))
  cutReply = (): void => this.push(() => cutReply(this))
  useFallback = (): void => this.push(() => this.choice.fallBack())
  startBackoff = (delayMs: number): void => this.push(() => startBackoff(this, delayMs))
  abortTools = (reason: unknown): void => this.push(() => abortTools(this, reason))
  drain = (): void => this.push(() => drain(this))
  conclude = (ending: QueryEnding): void => this.push(() => conclude(this, ending))

  get idsAndTime(): IdsAndTime {
    return this.settings.idsAndTime
  }

  findTool(name: string): AnyTool | undefined {
    return this.setup.tools.find(name)
  }

  repeatsOf(name: string, input: unknown): number | undefined {
    return this.loopGuard?.timesOf(name, input)
  }

  isTaken(id: string): boolean {
    return this.transcript.hasCall(id)
  }

  isOldReply(id: string): boolean {
    // questions and agents of a discarded reply have its id too
    return this.transcript.hasReply(id) || this.log?.hasReply(id) === true
  }

  emit(message: QueryMessage): void {
    this.outgoing.push(message)
  }

  /** Adds the message to the host's queue, and to the next record of the log. */
  report(message: SystemMessage): void {
    if (this.log !== undefined) this.#reports.push(message)
    this.emit(message)
  }

  takeReports(): SystemMessage[] {
    return this.#reports.splice(0)
  }

  takeEntered(): string[] {
    return this.entered.splice(0)
  }

  onUpdate({ message, newContext }: MessageUpdate): Promise<void> | undefined {
    this.setup.context = newContext
    this.outgoing.push(message)
    return this.outgoing.room()
  }

  inContext<Value>(job: () => Value): Value {
    return this.#context === undefined ? job() : this.#context.run(job, undefined)
  }

  onDrained(attempt: Attempt): void {
    commitTurn(this, attempt)
  }

  tell(event: QueryEvent): void {
    this.run(() => {
      if (this.actor.getSnapshot().status === 'active') this.actor.send(event)
    })
  }

  /** Runs a function as one step: what it triggers begins when it has returned. */
  run(step: () => void): void {
    this.#outbox.run(step)
  }

  push(job: () => void): void {
    this.#outbox.push(job)
  }

  listenToHost(isListening: boolean): void {
    this.#hostAbort.listenWhile(isListening)
  }

  newAttempt(before?: Attempt): Attempt {
    const { background, account } = this
    const log = this.log && { log: this.log, atRest: () => checkStalled(this) }
    return new Attempt(this, this.setup.newExecutor({ log, background, account }), before)
  }

  /** Background calls that this process does not have run on from where the log leaves them. */
  adoptBackground(): void {
    for (const logged of this.log?.background ?? []) {
      if (!this.background.has(logged.started.id)) this.executor.adopt(logged, this.background)
    }
  }

  #hearLog(log: RunLog): void {
    this.stopHearingLog = log.onFailure((error) => this.tell({ type: 'journal.failed', error }))
    if (log.failure !== undefined) this.tell({ type: 'journal.failed', error: log.failure })
  }
}
