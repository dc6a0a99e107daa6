import type { ActorRefFrom } from 'xstate'
import type { CallStage, ExecutorMachine, ExecutorSchedule } from '../../machines/index.ts'
import type { BackgroundCalls } from '../background/background-calls.ts'
import type { LoggedBackground } from '../journal/open-turn.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import { answerFor } from '../pipeline/asking.ts'
import { warnAboutKeys } from '../pipeline/call-keys.ts'
import { causeFor } from '../pipeline/cancels-siblings.ts'
import { detachCall } from '../pipeline/detaching.ts'
import { ToolCall } from '../pipeline/tool-call.ts'
import type { DetachOptions } from '../tool/background.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import { callsSoFar, type DiscardedCall, hasEffects, isStalled } from './calls-so-far.ts'
import { type ExecutorEvents, type OpenQuestion, questionOf } from './events.ts'
import { ExecutorParts } from './executor-parts.ts'
import { type AddOptions, readBlock, renameInTranscript } from './intake.ts'
import type { ReadyMessages } from './ready-messages.ts'

/** Events that a listener may use to wait for a call. */
const tellsOfCalls = (type: keyof ExecutorEvents): boolean => type !== 'warning' && type !== 'deferred'

/** One executor as its host uses it: each request becomes an event of the executor chart. */
export class ExecutorCore {
  readonly #parts: ExecutorParts
  #discarded: DiscardedCall[] | undefined

  constructor(...given: ConstructorParameters<typeof ExecutorParts>) {
    this.#parts = new ExecutorParts(...given)
  }

  get actor(): ActorRefFrom<ExecutorMachine> {
    return this.#parts.actor
  }

  get run(): ExecutorSchedule {
    return this.#parts.run
  }

  get messages(): ReadyMessages {
    return this.#parts.messages
  }

  add(given: ToolUseBlock, source: AssistantMessage | undefined, options: AddOptions): ToolUseBlock {
    const { hostAbort, warnings, services, intake, ledger, ownWaits } = this.#parts
    hostAbort.check()
    warnings.tellOfRules()
    const block = readBlock(given)
    const assistantMessage = source ?? createAssistantMessage([block], {}, services.settings.idsAndTime)
    const same = block.id === '' ? undefined : intake.findSame(block)
    if (same !== undefined) return same.block
    const arrival = intake.receive(block, assistantMessage, options, ledger)
    const call = new ToolCall(services, arrival)
    intake.remember(block.id, call)
    if (arrival.keys?.problem !== undefined) warnAboutKeys(call, arrival.keys.problem)
    options.onID?.(call.id)
    if (call.id !== block.id) renameInTranscript(given, call.id, assistantMessage)
    const cause = call.isAnswered ? undefined : causeFor(call, services.failures)
    this.#parts.send(cause === undefined ? { type: 'call.add', call } : { type: 'call.add', call, cause })
    if (call.body === undefined) call.keepAsyncContext()
    ownWaits.added(call)
    warnings.tellOfForeignFields(call)
    return call.block
  }

  find(id: string): ToolCall | undefined {
    return this.#parts.intake.find(id)
  }

  release(id: string): boolean {
    const call = this.find(id)
    if (call?.stage !== 'held') return false
    this.#parts.send({ type: 'call.release', call })
    return call.stage !== ('held' as CallStage)
  }

  withdraw(id: string, because: string): boolean {
    const call = this.find(id)
    if (call?.stage !== 'held') return false
    this.#parts.send({ type: 'call.withdraw', call, because })
    return true
  }

  detach(id: string, given: string | DetachOptions | undefined): boolean {
    const call = this.find(id)
    return call !== undefined && detachCall(call, given)
  }

  adopt(logged: LoggedBackground, background: BackgroundCalls): void {
    const { services, intake, ledger } = this.#parts
    const { started, message } = logged
    const block = message.message.content.find(({ id }) => id === started.call)
    const arrival = intake.receive(readBlock(block), message, { past: { started } }, ledger)
    const call = new ToolCall(services, arrival)
    call.keepAsyncContext()
    background.adopt(call, logged, ledger.latest())
  }

  withdrawRest(because: string): void {
    this.#parts.send({ type: 'calls.withdraw', because })
  }

  /** Every unfinished call waits for a later answer. */
  get isStalled(): boolean {
    return this.#parts.services.log !== undefined && isStalled(this.run)
  }

  get hasEffects(): boolean {
    return hasEffects(this.run)
  }

  /** Resolves when nothing runs any more: every body has settled, or its grace period is over. */
  whenIdle(): Promise<void> {
    return this.#parts.idle.wait()
  }

  abort(reason: unknown): void {
    this.#parts.abort(reason)
  }

  on<Type extends keyof ExecutorEvents>(type: Type, listener: (event: ExecutorEvents[Type]) => void): () => void {
    const off = this.#parts.emitter.on(type, listener)
    const inside = tellsOfCalls(type) ? this.#parts.ownWaits.begin() : undefined
    if (inside === undefined) return off
    return () => {
      off()
      this.#parts.ownWaits.end(inside)
    }
  }

  get background(): BackgroundCalls | undefined {
    return this.#parts.services.background as BackgroundCalls | undefined
  }

  get isDiscarded(): boolean {
    return this.messages.isDiscarded
  }

  /** Returns the state of each call. */
  discard(reason?: unknown): DiscardedCall[] {
    if (this.#discarded !== undefined) return this.#discarded
    this.#discarded = this.callsSoFar()
    this.#parts.services.background?.discardOf(this.#parts.services, reason)
    this.#parts.send({ type: 'abort.streamingFallback', ...(reason !== undefined && { reason }) })
    return this.#discarded
  }

  callsSoFar(): DiscardedCall[] {
    return callsSoFar(this.run)
  }

  get questions(): OpenQuestion[] {
    return this.#parts.services.askingCalls.map(questionOf)
  }

  answer(id: string, answer: PermissionAnswer): boolean {
    const call = this.find(id)
    return call !== undefined && answerFor(call, answer)
  }
}
