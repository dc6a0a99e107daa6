import type { ActorRefFrom } from 'xstate'
import {
  type ExecutorEvent,
  type ExecutorMachine,
  ExecutorSchedule,
  executorChart,
  explainAdmission,
} from '../../machines/index.ts'
import { Outbox } from '../base/outbox.ts'
import type { ExecutorLog } from '../journal/run-log.ts'
import { CallReports } from '../pipeline/call-reports.ts'
import type { BackgroundIntake } from '../pipeline/detaching.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { SharedLocks } from '../tool/locks.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import { ToolBox } from '../tool/tool-box.ts'
import { createToolUseContext, type ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import { CallServices } from './call-services.ts'
import { assertCanUseTool, assertContext, assertPermissions, contextFrom } from './check-context.ts'
import { ContextLedger } from './context-ledger.ts'
import { ExecutorEmitter } from './events.ts'
import { ExecutorRunPort } from './executor-run-port.ts'
import { HostAbort } from './host-abort.ts'
import { IdleWaits } from './idle-waits.ts'
import { InProgress } from './in-progress.ts'
import { Intake } from './intake.ts'
import { type ExecutorOptions, readOptions } from './options.ts'
import { OwnWaits } from './own-waits.ts'
import { ProgressBuffer } from './progress-buffer.ts'
import { ReadyMessages } from './ready-messages.ts'
import { SessionRules } from './session-rules.ts'
import { UnreadResults } from './unread-results.ts'
import { Warnings } from './warnings.ts'

/** The part of an executor's options that comes from its query. */
export interface ExecutorInner {
  /** The log of a session. */
  readonly log?: ExecutorLog | undefined
  /** Takes over calls that go to the background. */
  readonly background?: BackgroundIntake | undefined
  /** Counts the time of bodies. */
  readonly account?: Account | undefined
}

/** The parts of one executor and how they work together; the charts are in the middle. */
export class ExecutorParts {
  readonly emitter = new ExecutorEmitter()
  readonly warnings = new Warnings(this.emitter)
  readonly run: ExecutorSchedule
  readonly actor: ActorRefFrom<ExecutorMachine>
  readonly messages: ReadyMessages
  readonly services: CallServices
  readonly intake: Intake
  readonly ledger: ContextLedger
  readonly ownWaits: OwnWaits
  readonly idle: IdleWaits
  readonly hostAbort: HostAbort
  readonly #port: ExecutorRunPort
  readonly #outbox: Outbox
  readonly #inProgress: InProgress
  readonly #unread: UnreadResults
  readonly #log: ExecutorLog | undefined

  constructor(
    tools: readonly AnyTool[],
    canUseTool: CanUseTool | undefined,
    given: Partial<ToolUseContext> | undefined,
    options: ExecutorOptions | undefined,
    inner: ExecutorInner = {},
  ) {
    const { log, background, account } = inner
    this.#log = log
    const toolBox = new ToolBox(tools)
    const settings = readOptions(options)
    const { engine, maxConcurrency, maxInputChars, maxBufferedProgress, idsAndTime, trackBodies } = settings
    const { emitter, warnings } = this
    const context = contextFrom(given, tools)
    warnings.keepForRules(assertPermissions(context, tools))
    assertCanUseTool(canUseTool)
    const ledger = new ContextLedger(context, (next) => {
      assertContext(createToolUseContext(next))
      warnings.keepForRules(assertPermissions(next, tools))
    })
    const report = new CallReports(emitter, idsAndTime)
    const progress = new ProgressBuffer(maxBufferedProgress)
    const outbox = new Outbox(engine.send, () => this.#afterwards())
    const unread = new UnreadResults(settings, (call, problem, error) =>
      warnings.warn(call, 'unread_results', problem, error),
    )
    const ownWaits = new OwnWaits({
      tracksBodies: trackBodies,
      find: (id) => this.intake.find(id),
      explain: (call) => explainAdmission(call, this.run),
      push: (job) => outbox.push(job),
      answer: (inner, by) => this.#answerInner(inner, by),
    })
    const inProgress = () => this.#inProgress
    const port = new ExecutorRunPort({
      engine,
      ledger,
      outbox,
      report,
      unread,
      inProgress,
      onDiscard: () => this.#silence(),
    })
    const run = new ExecutorSchedule(maxConcurrency, port)
    const request = () => this.send({ type: 'results.take' })
    const messages = new ReadyMessages({ run, port, progress, ledger, unread, emitter, ownWaits, idsAndTime, request })
    const newID = () => `toolu_${idsAndTime.uuid().replaceAll('-', '')}`
    this.intake = new Intake(toolBox, maxInputChars, newID, log !== undefined, account)
    this.hostAbort = new HostAbort(context.abortController, (reason) => this.abort(reason))
    this.#inProgress = new InProgress(run, context, (error) =>
      warnings.warn(undefined, 'host_callback_failed', 'an in-progress callback of the host threw', error),
    )
    this.idle = new IdleWaits(run, ownWaits)
    this.services = new CallServices({
      settings,
      log: log?.log,
      background,
      account,
      locks: context.locks as SharedLocks | undefined,
      canUseTool,
      run,
      outbox,
      ledger,
      sessionRules: new SessionRules(tools),
      progress,
      messages,
      ownWaits,
      emitter,
      report,
      warnings,
      stopTurn: (reason) => this.#stopTurn(reason),
    })
    this.run = run
    this.messages = messages
    this.#port = port
    this.ledger = ledger
    this.#outbox = outbox
    this.#unread = unread
    this.ownWaits = ownWaits
    this.actor = engine.createRoot(executorChart(), { id: 'executor', input: { run } }, () => this.#stopped())
    this.actor.start()
  }

  /** Steps the executor chart, then runs the requested work. */
  send(event: ExecutorEvent): void {
    this.#outbox.send(this.actor, event)
  }

  abort(reason: unknown): void {
    this.hostAbort.acknowledge(reason)
    this.send({ type: 'abort.userInterrupted', reason })
  }

  /** A deadlock: neither call could ever continue. */
  #answerInner(inner: ToolCall, by: ToolCall): void {
    this.warnings.warn(
      by,
      'waits_for_itself',
      `it added ${inner.id} and waits for it, which can only start when it is over`,
    )
    this.send({ type: 'call.withdraw', call: inner, because: resultTexts.waitsForItself(by.description) })
  }

  /** A call ends the whole turn; the host is told through its own controller. */
  #stopTurn(reason: unknown): void {
    if (this.messages.isDiscarded) return
    this.hostAbort.abort(reason)
    // the controller fires only once, and may have fired for a weaker reason
    this.abort(reason)
  }

  /** The actor itself was stopped: nothing more is delivered, and running bodies are told to stop. */
  #stopped(): void {
    this.idle.isStopped = true
    this.#silence()
    const cause = { kind: 'streaming_fallback', reason: 'streaming_fallback' } as const
    for (const call of this.run.calls as ToolCall[]) call.tell({ type: 'call.abort', cause })
    this.#outbox.push(() => undefined)
  }

  #silence(): void {
    this.messages.discard()
    this.#inProgress.clear()
  }

  #afterwards(): void {
    this.hostAbort.listenWhile(this.#port.live > 0 && !this.idle.isStopped)
    this.messages.delivery.wake()
    this.#unread.count()
    this.#inProgress.flush()
    this.#log?.atRest()
    this.idle.wake()
  }
}
