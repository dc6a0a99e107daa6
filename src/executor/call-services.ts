import type { AnyActorRef } from 'xstate'
import { type CallEvent, type ExecutorSchedule, hasPlace, type Reclassification } from '../../machines/index.ts'
import type { Outbox } from '../base/outbox.ts'
import type { RunLog } from '../journal/run-log.ts'
import type { Message, ProgressMessage } from '../messages/message.ts'
import type { PermissionLists, ReadPermissions } from '../permission/permission-settings.ts'
import type { Place } from '../pipeline/body-link.ts'
import type { CallReports } from '../pipeline/call-reports.ts'
import type { NamingFailure } from '../pipeline/cancels-siblings.ts'
import type { BackgroundIntake } from '../pipeline/detaching.ts'
import type { ExecutorServices, WarningCode } from '../pipeline/executor-services.ts'
import { Policy } from '../pipeline/policy.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { SharedLocks } from '../tool/locks.ts'
import { allowAllTools, type CanUseTool } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import type { ContextLedger } from './context-ledger.ts'
import { type ExecutorEmitter, questionOf } from './events.ts'
import type { Settings } from './options.ts'
import type { OwnWaits } from './own-waits.ts'
import type { ProgressBuffer } from './progress-buffer.ts'
import type { ReadyMessages } from './ready-messages.ts'
import type { SessionRules } from './session-rules.ts'
import { SiblingIds } from './sibling-ids.ts'
import type { Warnings } from './warnings.ts'

interface ServiceParts {
  readonly settings: Settings
  readonly log: RunLog | undefined
  readonly background: BackgroundIntake | undefined
  readonly account: Account | undefined
  readonly locks: SharedLocks | undefined
  readonly canUseTool: CanUseTool | undefined
  readonly run: ExecutorSchedule
  readonly outbox: Outbox
  readonly ledger: ContextLedger
  readonly sessionRules: SessionRules
  readonly progress: ProgressBuffer
  readonly messages: ReadyMessages
  readonly ownWaits: OwnWaits
  readonly emitter: ExecutorEmitter
  readonly report: CallReports
  readonly warnings: Warnings
  stopTurn(reason: unknown): void
}

/** The services of an executor for its calls; each method delegates to one part of the executor. */
export class CallServices implements ExecutorServices {
  readonly settings: Settings
  readonly log: RunLog | undefined
  readonly background: BackgroundIntake | undefined
  readonly account: Account | undefined
  readonly canUseTool: CanUseTool | undefined
  readonly allowsEverything: boolean
  readonly report: CallReports
  readonly policy = new Policy()
  /** Failures that may cancel calls that are added later. */
  readonly failures: NamingFailure[] = []
  readonly #parts: ServiceParts
  readonly #siblings = new SiblingIds()
  #session: string | undefined

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.settings = parts.settings
    this.log = parts.log
    this.background = parts.background
    this.account = parts.account
    this.canUseTool = parts.canUseTool
    this.allowsEverything = parts.canUseTool === allowAllTools
    this.report = parts.report
  }

  /** Those of the context, or else those that background calls keep their keys in. */
  get locks(): SharedLocks | undefined {
    return this.#parts.locks ?? this.background?.locks
  }

  push(job: () => void): void {
    this.#parts.outbox.push(job)
  }

  pushFor(call: ToolCall, job: (call: ToolCall) => void): void {
    this.#parts.outbox.pushFor(call, job)
  }

  send(actor: AnyActorRef, event: CallEvent): void {
    this.#parts.outbox.send(actor, event)
  }

  inBody<Input, Value>(call: ToolCall, start: (call: ToolCall, input: Input) => Value, input: Input): Value {
    return this.#parts.ownWaits.inBody(call, start, input)
  }

  contextFor(call: ToolCall): ToolUseContext {
    return this.#parts.ledger.contextFor(call)
  }

  peekContext(call: ToolCall): ToolUseContext | undefined {
    return this.#parts.ledger.peek(call)
  }

  get currentContext(): ToolUseContext {
    return this.#parts.ledger.current
  }

  previewContext(call: ToolCall): { before: ToolUseContext; after: ToolUseContext } | undefined {
    return this.#parts.ledger.preview(call)
  }

  get addedRules(): ReadPermissions['rules'] {
    return this.#parts.sessionRules.added
  }

  checkRules(lists: PermissionLists): void {
    this.#parts.sessionRules.read(lists)
  }

  addRules(lists: PermissionLists): void {
    this.#parts.sessionRules.add(lists)
    this.#parts.ledger.addRules(lists)
  }

  /** Called by a guard: unreadable settings do not count as plain, so that the phase itself handles them. */
  hasPlainPermissions(call: ToolCall): boolean {
    if (!this.#parts.sessionRules.isEmpty) return false
    const context = this.peekContext(call)
    try {
      return context !== undefined && this.policy.permissions(context.permissions).isPlain
    } catch {
      return false
    }
  }

  get session(): string {
    this.#session ??= this.log?.session ?? this.settings.idsAndTime.uuid()
    return this.#session
  }

  get isDiscarded(): boolean {
    return this.#parts.messages.isDiscarded
  }

  get askingCalls(): ToolCall[] {
    return ([...this.#parts.run.executing] as ToolCall[]).filter(({ isAsking }) => isAsking)
  }

  get tellsCompleted(): boolean {
    return this.#parts.emitter.has('completed')
  }

  tellCompleted({ id }: ToolCall, messages: readonly Message[]): void {
    if (!this.isDiscarded) this.#parts.emitter.emit('completed', { toolUseID: id, messages })
  }

  tellDeferred(call: ToolCall): void {
    if (!this.isDiscarded) this.#parts.emitter.emit('deferred', questionOf(call))
  }

  tellPlaced({ id }: ToolCall, place: Place): void {
    if (!this.isDiscarded) this.#parts.emitter.emit('placed', { toolUseID: id, ...place })
  }

  addProgress(call: ToolCall, message: ProgressMessage): void {
    const { progress, outbox } = this.#parts
    if (this.isDiscarded) return
    // before the event, because a listener may discard the run
    progress.push(call, message)
    this.report.progressed(call)
    outbox.run(() => undefined)
  }

  get hasPlace(): boolean {
    return hasPlace(this.#parts.run)
  }

  mustQueueAgain(call: ToolCall, change: Reclassification): boolean {
    return this.#parts.run.mustQueueAgain(call, change)
  }

  siblingsOf(call: ToolCall): string[] {
    return this.#siblings.of(call)
  }

  liveSiblings(call: ToolCall): ToolCall[] {
    const { calls, completedUpTo } = this.#parts.run
    return (calls.slice(completedUpTo) as ToolCall[]).filter(
      (each) => each !== call && each.stage !== 'completed' && each.stage !== 'yielded',
    )
  }

  noteFailure(failure: NamingFailure): void {
    this.failures.push(failure)
  }

  stopTurn(reason: unknown): void {
    this.#parts.stopTurn(reason)
  }

  warn(call: ToolCall | undefined, code: WarningCode, problem: string, error?: unknown): void {
    this.#parts.warnings.warn(call, code, problem, error)
  }
}
