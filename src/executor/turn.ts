import type { ActorRefFrom, AnyActorRef } from 'xstate'
import {
  type CallEvent,
  type CallRecord,
  type CallStage,
  createTableRoot,
  deliverableOf,
  type ExecutorEvent,
  type ExecutorMachine,
  executorTable,
  RunRecord,
} from '../../machines/index.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { AssistantMessage, Message, ProgressMessage, ToolUseBlock } from '../messages/message.ts'
import type { PermissionLists, ReadPermissions } from '../permission/permission-settings.ts'
import { answerFor } from '../pipeline/ask-host.ts'
import type { CallHost, WarningCode } from '../pipeline/call-host.ts'
import { CallReports } from '../pipeline/call-reports.ts'
import { Policy } from '../pipeline/policy.ts'
import { ToolCall } from '../pipeline/tool-call.ts'
import { allowAllTools, type CanUseTool, type PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import { ToolBox } from '../tool/tool-box.ts'
import { createToolUseContext, type ToolUseContext } from '../tool/tool-use-context.ts'
import { assertCanUseTool, assertContext, assertPermissions, toolsFor } from './check-context.ts'
import { ContextLedger } from './context-ledger.ts'
import { Delivery, type MessageSource, type MessageUpdate } from './delivery.ts'
import { Emitter } from './events.ts'
import { HostAbort } from './host-abort.ts'
import { InProgress } from './in-progress.ts'
import { type AddOptions, Intake, readBlock, renameInTranscript } from './intake.ts'
import { type OpenQuestion, questionOf } from './open-question.ts'
import { type ExecutorOptions, readOptions, type Settings } from './options.ts'
import { Outbox } from './outbox.ts'
import { ProgressBuffer } from './progress-buffer.ts'
import { SessionRules } from './session-rules.ts'
import { SiblingIds } from './sibling-ids.ts'
import { Warnings } from './warnings.ts'

/** What had become of a call when its run was discarded. `started`: its body had begun. */
export interface DiscardedCall {
  id: string
  name: string
  started: boolean
  completed: boolean
}

/** Everything one executor works with: the charts in the middle, and around them what the charts ask for. */
export class Turn implements CallHost, MessageSource {
  readonly settings: Settings
  readonly canUseTool: CanUseTool | undefined
  readonly allowsEverything: boolean
  readonly delivery: Delivery
  readonly emitter = new Emitter()
  readonly report: CallReports
  readonly policy = new Policy()
  readonly #sessionRules: SessionRules
  readonly run: RunRecord
  readonly actor: ActorRefFrom<ExecutorMachine>
  readonly #intake: Intake
  readonly #ledger: ContextLedger
  readonly #outbox: Outbox
  readonly #hostAbort: HostAbort
  readonly #inProgress: InProgress
  readonly #progress: ProgressBuffer
  readonly #warnings = new Warnings(this.emitter)
  readonly #siblings = new SiblingIds()
  #handed: ToolCall[] = []
  #whenIdle: (() => void)[] = []
  #live = 0
  #isDiscarded = false
  #discarded: DiscardedCall[] | undefined

  constructor(
    tools: readonly AnyTool[],
    canUseTool: CanUseTool | undefined,
    given: Partial<ToolUseContext> | undefined,
    settings: ExecutorOptions | undefined,
  ) {
    this.settings = readOptions(settings)
    const { maxConcurrency, maxInputChars, maxBufferedProgress, stamps } = this.settings
    this.report = new CallReports(this.emitter, stamps)
    const options = Object.assign({}, given?.options, { tools: toolsFor(given, tools) })
    const context = createToolUseContext(Object.assign({}, given, { options }))
    assertContext(context)
    assertPermissions(context, tools)
    assertCanUseTool(canUseTool)
    this.#sessionRules = new SessionRules(tools)
    this.canUseTool = canUseTool
    this.allowsEverything = canUseTool === allowAllTools
    this.#ledger = new ContextLedger(context, (next) => {
      assertContext(createToolUseContext(next))
      assertPermissions(next, tools)
    })
    this.#progress = new ProgressBuffer(maxBufferedProgress)
    this.#outbox = new Outbox(() => this.#afterwards())
    this.delivery = new Delivery(this)
    this.#intake = new Intake(new ToolBox(tools), maxInputChars, () => `toolu_${stamps.uuid().replaceAll('-', '')}`)
    this.#hostAbort = new HostAbort(context.abortController, (reason) => this.abort(reason))
    this.run = new RunRecord(maxConcurrency, this.#runPort())
    this.#inProgress = new InProgress(this.run, context, (error) =>
      this.warn(undefined, 'host_callback_failed', 'an in-progress callback of the host threw', error),
    )
    this.actor = createTableRoot(executorTable(), { id: 'executor', input: { run: this.run } })
    this.actor.start()
  }

  add(given: ToolUseBlock, source: AssistantMessage | undefined, options: AddOptions): ToolUseBlock {
    this.#hostAbort.check()
    const block = readBlock(given)
    const assistantMessage = source ?? createAssistantMessage([block], {}, this.settings.stamps)
    const same = block.id === '' ? undefined : this.#intake.findSame(block)
    if (same !== undefined) return same.block
    const call = new ToolCall(this, this.#intake.receive(block, assistantMessage, options))
    this.#intake.remember(block.id, call)
    if (call.id !== block.id) renameInTranscript(given, call.id, assistantMessage)
    this.#send({ type: 'call.add', call })
    return call.block
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

  /** Nothing runs any more: every body has settled, or its grace is over. */
  whenIdle(): Promise<void> {
    if (this.run.executing.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  abort(reason: unknown): void {
    this.#hostAbort.acknowledge(reason)
    this.#send({ type: 'abort.userInterrupted', reason })
  }

  /** A call ends the turn for everybody: the host hears of it by its own controller. */
  stopTurn(reason: unknown): void {
    if (this.#isDiscarded) return
    this.#hostAbort.abort(reason)
    // the controller fires only once, and may have done so for something weaker
    this.abort(reason)
  }

  /** Says what had become of each call until then. */
  get isDiscarded(): boolean {
    return this.#discarded !== undefined
  }

  discard(): DiscardedCall[] {
    if (this.#discarded !== undefined) return this.#discarded
    this.#discarded = (this.run.calls as ToolCall[]).map(({ id, name, body, stage }) => ({
      id,
      name,
      started: body !== undefined,
      completed: stage === 'completed' || stage === 'yielded',
    }))
    this.#send({ type: 'abort.streamingFallback' })
    return this.#discarded
  }

  /** Progress first: none may come after the result of its call. What the chart hands over is the next taker's. */
  take(): MessageUpdate | undefined {
    const progress = this.#progress.shift()
    if (progress !== undefined) {
      this.emitter.emit('message', { message: progress, toolUseID: progress.parentToolUseID })
      return { message: progress, newContext: this.#ledger.current }
    }
    // only to spare the chart a question whose answer is known
    if (this.#handed.length === 0 && deliverableOf(this.run).ready) this.#send({ type: 'results.take' })
    const call = this.#handed.shift()
    if (call === undefined) return undefined
    this.#ledger.applyDue()
    const newContext = call.contextAfter ?? this.#ledger.current
    const message = call.takeMessage()
    this.emitter.emit('message', { message, toolUseID: call.id })
    return { message, newContext }
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

  /** Asked by a guard: what cannot be read is not plain, and the phase itself finds out. */
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
    return ([...this.run.executing] as ToolCall[]).filter(({ isAsking }) => isAsking).map(questionOf)
  }

  answer(id: string, answer: PermissionAnswer): boolean {
    const call = this.find(id)
    return call !== undefined && answerFor(call, answer)
  }

  addProgress(call: ToolCall, message: ProgressMessage): void {
    if (this.#isDiscarded) return
    // first: a listener may discard the run
    this.#progress.push(call, message)
    this.report.progressed(call)
    this.#outbox.run(() => undefined)
  }

  get isDrained(): boolean {
    if (this.#isDiscarded) return true
    const next = deliverableOf(this.run)
    return !next.ready && next.because === 'allYielded' && this.#handed.length === 0
  }

  get tellsSettled(): boolean {
    return this.emitter.has('settled')
  }

  tellSettled({ id }: ToolCall, messages: readonly Message[]): void {
    if (!this.#isDiscarded) this.emitter.emit('settled', { toolUseID: id, messages })
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

  #runPort() {
    // records of this run are calls of this turn: nothing else is ever added
    const asCall = (record: CallRecord) => record as ToolCall
    const applyDue = () => this.#ledger.applyDue()
    return {
      received: (record: CallRecord) => {
        this.#live++
        this.#ledger.received(asCall(record))
      },
      started: ({ id }: CallRecord) => this.#inProgress.begin(id),
      requeued: (record: CallRecord) => {
        asCall(record).forgetContext()
        this.#outbox.push(() => this.report.left(asCall(record)))
        this.#inProgress.end(record.id)
      },
      completed: () => {
        this.#live--
      },
      settledInOrder: (record: CallRecord) => {
        this.#ledger.settledInOrder(asCall(record))
        this.#outbox.push(applyDue)
      },
      handOver: (record: CallRecord) => {
        const call = asCall(record)
        call.unread--
        this.#handed.push(call)
      },
      yielded: ({ id, hasStarted }: CallRecord) => {
        if (hasStarted) this.#inProgress.end(id)
      },
      discarded: () => {
        this.#isDiscarded = true
        this.#inProgress.clear()
        this.#progress.clear()
        this.#handed = []
      },
    }
  }

  #afterwards(): void {
    this.#hostAbort.listenWhile(this.#live > 0)
    this.delivery.wake()
    this.#inProgress.flush()
    if (this.run.executing.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}
