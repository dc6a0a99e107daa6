import type { ActorRefFrom, AnyActorRef } from 'xstate'
import {
  type CallEvent,
  type CallRecord,
  type CallStage,
  deliverableOf,
  type ExecutorEvent,
  type ExecutorMachine,
  ExecutorSchedule,
  executorChart,
  explainAdmission,
  hasPlace,
} from '../../machines/index.ts'
import { Outbox } from '../base/outbox.ts'
import type { ExecutorLog, RunLog } from '../journal/run-log.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { AssistantMessage, Message, ProgressMessage, ToolUseBlock } from '../messages/message.ts'
import type { PermissionLists, ReadPermissions } from '../permission/permission-settings.ts'
import { answerFor } from '../pipeline/asking.ts'
import { warnAboutKeys } from '../pipeline/call-keys.ts'
import { CallReports } from '../pipeline/call-reports.ts'
import { causeFor, type NamingFailure } from '../pipeline/cancels-siblings.ts'
import { isReadOnly } from '../pipeline/classify-call.ts'
import type { ExecutorServices, WarningCode } from '../pipeline/executor-services.ts'
import { Policy } from '../pipeline/policy.ts'
import { ToolCall } from '../pipeline/tool-call.ts'
import { resultTexts } from '../results/result-texts.ts'
import { foreignFieldsOf } from '../tool/foreign-fields.ts'
import { allowAllTools, type CanUseTool, type PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import { ToolBox } from '../tool/tool-box.ts'
import { createToolUseContext, type ToolUseContext } from '../tool/tool-use-context.ts'
import { assertCanUseTool, assertContext, assertPermissions, toolsFor } from './check-context.ts'
import { ContextLedger } from './context-ledger.ts'
import { Delivery, type MessageSource, type MessageUpdate } from './delivery.ts'
import { ExecutorEmitter, type ExecutorEvents } from './events.ts'
import { ExecutorRunPort } from './executor-run-port.ts'
import { HostAbort } from './host-abort.ts'
import { InProgress } from './in-progress.ts'
import { type AddOptions, Intake, readBlock, renameInTranscript } from './intake.ts'
import { type OpenQuestion, questionOf } from './open-question.ts'
import { type ExecutorOptions, readOptions, type Settings } from './options.ts'
import { OwnWaits } from './own-waits.ts'
import { ProgressBuffer } from './progress-buffer.ts'
import { SessionRules } from './session-rules.ts'
import { SiblingIds } from './sibling-ids.ts'
import { UnreadResults } from './unread-results.ts'
import { Warnings } from './warnings.ts'

/** The state of a call when its run was discarded. `started`: its body had begun. */
export interface DiscardedCall {
  id: string
  name: string
  started: boolean
  completed: boolean
}

/** Whoever listens to these may be waiting for a call. */
const tellsOfCalls = (type: keyof ExecutorEvents): boolean => type !== 'warning' && type !== 'deferred'

/** The parts of one executor: the charts, and around them the code that does their work. */
export class ExecutorCore implements ExecutorServices, MessageSource {
  readonly settings: Settings
  readonly canUseTool: CanUseTool | undefined
  readonly allowsEverything: boolean
  readonly delivery: Delivery
  readonly emitter = new ExecutorEmitter()
  readonly report: CallReports
  readonly policy = new Policy()
  readonly #sessionRules: SessionRules
  readonly run: ExecutorSchedule
  readonly actor: ActorRefFrom<ExecutorMachine>
  readonly #port: ExecutorRunPort
  readonly #intake: Intake
  readonly #ledger: ContextLedger
  readonly #outbox: Outbox
  readonly #hostAbort: HostAbort
  readonly #inProgress: InProgress
  readonly #progress: ProgressBuffer
  readonly #warnings = new Warnings(this.emitter)
  readonly #siblings = new SiblingIds()
  readonly #unread: UnreadResults
  readonly #failures: NamingFailure[] = []
  /** Emitted with the next call, because a new executor has no listeners yet. */
  #ruleWarnings: string[] = []
  readonly #knownTools = new Set<AnyTool>()
  readonly #ownWaits: OwnWaits
  #whenIdle: { readonly resolve: () => void; readonly inside: ToolCall | undefined }[] = []
  readonly #log: ExecutorLog | undefined
  #isDiscarded = false
  #isStopped = false
  #discarded: DiscardedCall[] | undefined

  constructor(
    tools: readonly AnyTool[],
    canUseTool: CanUseTool | undefined,
    given: Partial<ToolUseContext> | undefined,
    settings: ExecutorOptions | undefined,
    log?: ExecutorLog,
  ) {
    this.#log = log
    const toolBox = new ToolBox(tools)
    this.settings = readOptions(settings)
    const { engine, maxConcurrency, maxInputChars, maxBufferedProgress, idsAndTime, trackBodies } = this.settings
    this.report = new CallReports(this.emitter, idsAndTime)
    const options = Object.assign({}, given?.options, { tools: toolsFor(given, tools) })
    const context = createToolUseContext(Object.assign({}, given, { options }))
    assertContext(context)
    this.#ruleWarnings = assertPermissions(context, tools)
    assertCanUseTool(canUseTool)
    this.#sessionRules = new SessionRules(tools)
    this.canUseTool = canUseTool
    this.allowsEverything = canUseTool === allowAllTools
    this.#ledger = new ContextLedger(context, (next) => {
      assertContext(createToolUseContext(next))
      this.#ruleWarnings.push(...assertPermissions(next, tools))
    })
    this.#progress = new ProgressBuffer(maxBufferedProgress)
    this.#outbox = new Outbox(engine.send, () => this.#afterwards())
    this.delivery = new Delivery(this)
    this.#intake = new Intake(
      toolBox,
      maxInputChars,
      () => `toolu_${idsAndTime.uuid().replaceAll('-', '')}`,
      log !== undefined,
    )
    this.#hostAbort = new HostAbort(context.abortController, (reason) => this.abort(reason))
    this.#ownWaits = new OwnWaits({
      tracksBodies: trackBodies,
      find: (id) => this.find(id),
      explain: (call) => explainAdmission(call, this.run),
      push: (job) => this.push(job),
      answer: (inner, by) => this.#answerInner(inner, by),
    })
    this.#unread = new UnreadResults(this.settings, (call, problem, error) =>
      this.warn(call, 'unread_results', problem, error),
    )
    this.#port = new ExecutorRunPort({
      engine,
      ledger: this.#ledger,
      outbox: this.#outbox,
      report: this.report,
      unread: this.#unread,
      inProgress: () => this.#inProgress,
      onDiscard: () => this.#silence(),
    })
    this.run = new ExecutorSchedule(maxConcurrency, this.#port)
    this.#inProgress = new InProgress(this.run, context, (error) =>
      this.warn(undefined, 'host_callback_failed', 'an in-progress callback of the host threw', error),
    )
    const input = { run: this.run }
    this.actor = engine.createRoot(executorChart(), { id: 'executor', input }, () => this.#stopped())
    this.actor.start()
  }

  add(given: ToolUseBlock, source: AssistantMessage | undefined, options: AddOptions): ToolUseBlock {
    this.#hostAbort.check()
    if (this.#ruleWarnings.length > 0) this.#tellRuleWarnings()
    const block = readBlock(given)
    const assistantMessage = source ?? createAssistantMessage([block], {}, this.settings.idsAndTime)
    const same = block.id === '' ? undefined : this.#intake.findSame(block)
    if (same !== undefined) return same.block
    const arrival = this.#intake.receive(block, assistantMessage, options, () => this.#ledger.latest())
    const call = new ToolCall(this, arrival)
    this.#intake.remember(block.id, call)
    if (arrival.keys?.problem !== undefined) warnAboutKeys(call, arrival.keys.problem)
    options.onID?.(call.id)
    if (call.id !== block.id) renameInTranscript(given, call.id, assistantMessage)
    const cause = call.isAnswered ? undefined : causeFor(call, this.#failures)
    this.#send(cause === undefined ? { type: 'call.add', call } : { type: 'call.add', call, cause })
    this.#ownWaits.added(call)
    this.#tellForeignFields(call)
    return call.block
  }

  #tellRuleWarnings(): void {
    for (const message of this.#ruleWarnings.splice(0)) this.warn(undefined, 'rule_warning', message)
  }

  /** Once per tool, when the host listens. */
  #tellForeignFields(call: ToolCall): void {
    const { tool } = call
    if (tool === undefined || this.#knownTools.has(tool)) return
    this.#knownTools.add(tool)
    for (const problem of foreignFieldsOf(tool)) this.warn(call, 'foreign_field', problem)
  }

  find(id: string): ToolCall | undefined {
    return this.#intake.find(id)
  }

  release(id: string): boolean {
    const call = this.find(id)
    if (call?.stage !== 'held') return false
    this.#send({ type: 'call.release', call })
    return call.stage !== ('held' as CallStage)
  }

  withdraw(id: string, because: string): boolean {
    const call = this.find(id)
    if (call?.stage !== 'held') return false
    this.#send({ type: 'call.withdraw', call, because })
    return true
  }

  withdrawRest(because: string): void {
    this.#send({ type: 'calls.withdraw', because })
  }

  get log(): RunLog | undefined {
    return this.#log?.log
  }

  /** Everything that is left waits for an answer that comes later. */
  get isStalled(): boolean {
    const { executing, calls, cursor } = this.run
    if (this.#log === undefined || executing.size === 0 || deliverableOf(this.run).ready) return false
    const isUnrecorded = ({ stage, port }: CallRecord): boolean => stage === 'completed' && !port.isDurable
    return ([...executing] as ToolCall[]).every((call) => call.isLater) && !calls.slice(cursor).some(isUnrecorded)
  }

  /** The body of a call that is not read-only has begun. */
  get hasEffects(): boolean {
    return (this.run.calls as ToolCall[]).some(
      ({ hasBegun, tool, reading }) =>
        hasBegun && !(tool !== undefined && reading.status === 'valid' && isReadOnly(tool, reading.input)),
    )
  }

  /** Resolves when nothing runs any more: every body has settled, or its grace period is over. */
  whenIdle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    const inside = this.#ownWaits.begin()
    return new Promise((resolve) => this.#whenIdle.push({ resolve, inside }))
  }

  abort(reason: unknown): void {
    this.#hostAbort.acknowledge(reason)
    this.#send({ type: 'abort.userInterrupted', reason })
  }

  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value {
    return this.#ownWaits.inBody(call, start, input)
  }

  on<Type extends keyof ExecutorEvents>(type: Type, listener: (event: ExecutorEvents[Type]) => void): () => void {
    const off = this.emitter.on(type, listener)
    const inside = tellsOfCalls(type) ? this.#ownWaits.begin() : undefined
    if (inside === undefined) return off
    return () => {
      off()
      this.#ownWaits.end(inside)
    }
  }

  fallsAsleep(): ToolCall | undefined {
    return this.#ownWaits.begin()
  }

  wakesUp(inside: ToolCall): void {
    this.#ownWaits.end(inside)
  }

  /** Neither of the two could ever go on. */
  #answerInner(inner: ToolCall, by: ToolCall): void {
    this.warn(by, 'waits_for_itself', `it added ${inner.id} and waits for it, which can only start when it is over`)
    this.#send({ type: 'call.withdraw', call: inner, because: resultTexts.waitsForItself(by.description) })
  }

  waitsForItself(inside: object): boolean {
    const { calls, cursor } = this.run
    return calls[cursor] === inside && calls[cursor]?.stage === 'executing' && this.#ownWaits.isStuck(inside)
  }

  /** A call ends the whole turn; the host is told through its own controller. */
  stopTurn(reason: unknown): void {
    if (this.#isDiscarded) return
    this.#hostAbort.abort(reason)
    // the controller fires only once, and may have fired for a weaker reason
    this.abort(reason)
  }

  get isDiscarded(): boolean {
    return this.#isDiscarded
  }

  /** Returns the state of each call. */
  discard(reason?: unknown): DiscardedCall[] {
    if (this.#discarded !== undefined) return this.#discarded
    this.#discarded = this.callsSoFar()
    this.#send({ type: 'abort.streamingFallback', ...(reason !== undefined && { reason }) })
    return this.#discarded
  }

  callsSoFar(): DiscardedCall[] {
    return (this.run.calls as ToolCall[]).map(({ id, name, hasBegun, stage }) => ({
      id,
      name,
      started: hasBegun,
      completed: stage === 'completed' || stage === 'yielded',
    }))
  }

  /** Progress first, because none may come after the result of its call. Messages that the chart handed over come next. */
  take(): MessageUpdate | undefined {
    // an id or a time is being requested from the host: the message at the cursor may be incomplete
    if (this.settings.idsAndTime.isBusy?.() === true) return this.#refuse()
    for (;;) {
      const progress = this.#progress.shift()
      if (progress !== undefined) {
        this.emitter.emit('message', { message: progress, toolUseID: progress.parentToolUseID })
        return { message: progress, newContext: this.#ledger.current }
      }
      const handedOver = this.#port.handedOver
      // skips an event to the chart whose outcome is known
      if (this.#port.handed.length === 0 && this.run.isReady) this.#send({ type: 'results.take' })
      const call = this.#port.handed.shift()
      if (call !== undefined) return this.#update(call)
      // a callback of the host took the message; more may be ready
      if (this.#port.handedOver === handedOver || this.#isDiscarded) return undefined
    }
  }

  #update(call: ToolCall): MessageUpdate {
    this.#ledger.applyDue()
    const newContext = call.contextAfter ?? this.#ledger.current
    const message = call.takeMessage()
    if (call.unread === 0) this.#unread.taken(call)
    if (this.emitter.has('message')) this.emitter.emit('message', { message, toolUseID: call.id })
    return { message, newContext }
  }

  /** The reader is woken when the host's function has returned. */
  #refuse(): undefined {
    queueMicrotask(() => this.delivery.wake())
    return undefined
  }

  push(job: () => void): void {
    this.#outbox.push(job)
  }

  send(actor: AnyActorRef, event: CallEvent): void {
    this.#outbox.send(actor, event)
  }

  contextFor(call: ToolCall): ToolUseContext {
    return this.#ledger.contextFor(call)
  }

  peekContext(call: ToolCall): ToolUseContext | undefined {
    return this.#ledger.peek(call)
  }

  get addedRules(): ReadPermissions['rules'] {
    return this.#sessionRules.added
  }

  addRules(lists: PermissionLists): void {
    this.#sessionRules.add(lists)
    this.#ledger.addRules(lists)
  }

  /** Called by a guard: unreadable settings do not count as plain, so that the phase itself handles them. */
  hasPlainPermissions(call: ToolCall): boolean {
    if (!this.#sessionRules.isEmpty) return false
    const context = this.#ledger.peek(call)
    try {
      return context !== undefined && this.policy.permissions(context.permissions).isPlain
    } catch {
      return false
    }
  }

  get questions(): OpenQuestion[] {
    return this.askingCalls.map(questionOf)
  }

  get askingCalls(): ToolCall[] {
    return ([...this.run.executing] as ToolCall[]).filter(({ isAsking }) => isAsking)
  }

  answer(id: string, answer: PermissionAnswer): boolean {
    const call = this.find(id)
    return call !== undefined && answerFor(call, answer)
  }

  addProgress(call: ToolCall, message: ProgressMessage): void {
    if (this.#isDiscarded) return
    // before the event, because a listener may discard the run
    this.#progress.push(call, message)
    this.report.progressed(call)
    this.#outbox.run(() => undefined)
  }

  get isDrained(): boolean {
    if (this.#isDiscarded) return true
    const next = deliverableOf(this.run)
    return !next.ready && next.because === 'allYielded' && this.#port.handed.length === 0
  }

  get tellsCompleted(): boolean {
    return this.emitter.has('completed')
  }

  tellCompleted({ id }: ToolCall, messages: readonly Message[]): void {
    if (!this.#isDiscarded) this.emitter.emit('completed', { toolUseID: id, messages })
  }

  tellDeferred(call: ToolCall): void {
    if (!this.#isDiscarded) this.emitter.emit('deferred', questionOf(call))
  }

  get hasPlace(): boolean {
    return hasPlace(this.run)
  }

  liveSiblings(call: ToolCall): ToolCall[] {
    const { calls, completedUpTo } = this.run
    return (calls.slice(completedUpTo) as ToolCall[]).filter(
      (each) => each !== call && each.stage !== 'completed' && each.stage !== 'yielded',
    )
  }

  noteFailure(failure: NamingFailure): void {
    this.#failures.push(failure)
  }

  siblingsOf(call: ToolCall): string[] {
    return this.#siblings.of(call)
  }

  warn(call: ToolCall | undefined, code: WarningCode, problem: string, error?: unknown): void {
    this.#warnings.warn(call, code, problem, error)
  }

  #send(event: ExecutorEvent): void {
    this.#outbox.send(this.actor, event)
  }

  /** The actor itself was stopped: nothing more is delivered, and running bodies are told to stop. */
  #stopped(): void {
    this.#isStopped = true
    this.#silence()
    const cause = { kind: 'streaming_fallback', reason: 'streaming_fallback' } as const
    for (const call of this.run.calls as ToolCall[]) call.tell({ type: 'call.abort', cause })
    this.#outbox.push(() => undefined)
  }

  #silence(): void {
    this.#isDiscarded = true
    this.#inProgress.clear()
    this.#progress.clear()
    this.#port.handed = []
    this.#unread.clear()
  }

  /** The chart of a stopped executor no longer counts its executing calls. */
  get #isIdle(): boolean {
    if (!this.#isStopped) return this.run.executing.size === 0
    return ([...this.run.executing] as ToolCall[]).every(({ ref }) => ref?.getSnapshot().matches('executing') !== true)
  }

  /** A body that waits until nothing runs does not wait for itself. */
  #wakeIdle(): void {
    if (this.#whenIdle.length === 0) return
    const isIdle = this.#isIdle
    const waiting = new Set(this.#whenIdle.map(({ inside }) => inside))
    const isIdleInside = isIdle || ([...this.run.executing] as ToolCall[]).every((call) => waiting.has(call))
    const woken = this.#whenIdle.filter(({ inside }) => (inside === undefined ? isIdle : isIdleInside))
    this.#whenIdle = this.#whenIdle.filter((each) => !woken.includes(each))
    for (const { resolve, inside } of woken) {
      this.#ownWaits.end(inside)
      resolve()
    }
  }

  #afterwards(): void {
    this.#hostAbort.listenWhile(this.#port.live > 0 && !this.#isStopped)
    this.delivery.wake()
    this.#unread.count()
    this.#inProgress.flush()
    this.#log?.atRest()
    this.#wakeIdle()
  }
}
