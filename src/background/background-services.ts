import type { AnyActorRef } from 'xstate'
import type { CallEvent } from '../../machines/index.ts'
import type { ProgressMessage } from '../messages/message.ts'
import type { ReadPermissions } from '../permission/permission-settings.ts'
import type { CallReports } from '../pipeline/call-reports.ts'
import type { ExecutorServices } from '../pipeline/executor-services.ts'
import type { Policy } from '../pipeline/policy.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** What the background calls of a query or session need of it. */
export interface BackgroundHost {
  push(job: () => void): void
  send(actor: AnyActorRef, event: CallEvent): void
  addProgress(call: ToolCall, message: ProgressMessage): void
}

/**
 * The services of an executor for a call that has left its turn: hooks, permissions, reports and settings stay those of the
 * executor; the gate, the order of results and the other calls of the turn are no longer its concern.
 */
export class BackgroundServices implements ExecutorServices {
  readonly settings: ExecutorServices['settings']
  readonly canUseTool: CanUseTool | undefined
  readonly allowsEverything: boolean
  readonly report: CallReports
  readonly policy: Policy
  readonly account: ExecutorServices['account']
  readonly log: ExecutorServices['log']
  readonly background = undefined
  readonly isDiscarded = false
  readonly askingCalls = []
  readonly tellsCompleted = false
  readonly hasPlace = true
  readonly #executor: ExecutorServices
  readonly #host: BackgroundHost
  readonly #context: ToolUseContext

  /** Its input is final. */
  mustQueueAgain(): boolean {
    return false
  }

  constructor(executor: ExecutorServices, host: BackgroundHost, context: ToolUseContext) {
    this.#executor = executor
    this.#host = host
    this.#context = context
    this.settings = executor.settings
    this.account = executor.account
    this.log = executor.log
    this.canUseTool = executor.canUseTool
    this.allowsEverything = executor.allowsEverything
    this.report = executor.report
    this.policy = executor.policy
  }

  get locks(): ExecutorServices['locks'] {
    return this.#executor.locks
  }

  get session(): string {
    return this.#executor.session
  }

  get addedRules(): ReadPermissions['rules'] {
    return this.#executor.addedRules
  }

  push(job: () => void): void {
    this.#host.push(job)
  }

  pushFor(call: ToolCall, job: (call: ToolCall) => void): void {
    this.#host.push(() => job(call))
  }

  send(actor: AnyActorRef, event: CallEvent): void {
    this.#host.send(actor, event)
  }

  contextFor(): ToolUseContext {
    return this.#context
  }

  get currentContext(): ToolUseContext {
    return this.#context
  }

  previewContext(): undefined {}

  peekContext(): ToolUseContext {
    return this.#context
  }

  hasPlainPermissions(call: ToolCall): boolean {
    return this.#executor.hasPlainPermissions(call)
  }

  checkRules: ExecutorServices['checkRules'] = (lists) => this.#executor.checkRules(lists)
  addRules: ExecutorServices['addRules'] = (lists) => this.#executor.addRules(lists)

  addProgress(call: ToolCall, message: ProgressMessage): void {
    this.#host.addProgress(call, message)
    this.report.progressed(call)
  }

  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value {
    return start(call, input)
  }

  warn: ExecutorServices['warn'] = (call, code, problem, error) => this.#executor.warn(call, code, problem, error)

  tellCompleted(): void {}
  tellDeferred(): void {}
  tellPlaced: ExecutorServices['tellPlaced'] = (call, place) => this.#executor.tellPlaced(call, place)
  siblingsOf = (): string[] => []
  liveSiblings = (): ToolCall[] => []
  noteFailure(): void {}
  stopTurn(): void {}
}
