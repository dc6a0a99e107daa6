import type { ActorRefFrom } from 'xstate'
import { type Admission, type ExecutorMachine, explainAdmission } from '../../machines/index.ts'
import type { Background } from '../background/background-call.ts'
import type { BackgroundCalls } from '../background/background-calls.ts'
import { checkListener } from '../base/emitter.ts'
import type { LoggedBackground } from '../journal/open-turn.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import { explainLocks } from '../pipeline/locking.ts'
import type { DetachOptions } from '../tool/background.ts'
import type { CanUseTool, PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { DiscardedCall } from './calls-so-far.ts'
import { type MessageUpdate, RemainingResults } from './delivery.ts'
import { type ExecutorEvents, executorEventTypes, type OpenQuestion } from './events.ts'
import { ExecutorCore } from './executor-core.ts'
import type { ExecutorInner } from './executor-parts.ts'
import type { AddOptions } from './intake.ts'
import type { ExecutorOptions } from './options.ts'

/**
 * Runs the tool calls of one reply while the model is still streaming it: safe calls in parallel, an unsafe call alone,
 * and one result per call, in emission order.
 *
 * @example
 * const executor = new StreamingToolExecutor(tools, canUseTool, createToolUseContext())
 * for await (const event of stream) {
 *   if (event.type === 'block') executor.addTool(event.block, event.assistantMessage)
 *   for (const { message } of executor.getCompletedResults()) show(message)
 * }
 * for await (const { message } of executor.getRemainingResults()) show(message)
 */
export class StreamingToolExecutor {
  readonly #core: ExecutorCore

  /**
   * @param canUseTool answers whether a call may run. If it is absent, no call can be approved and every call is denied; pass
   * `allowAllTools` to allow all.
   * @param inner the log and the background calls, which a query passes
   */
  constructor(
    tools: readonly AnyTool[],
    canUseTool?: CanUseTool,
    toolUseContext?: Partial<ToolUseContext>,
    options?: ExecutorOptions,
    inner?: ExecutorInner,
  ) {
    this.#core = new ExecutorCore(tools, canUseTool, toolUseContext, options, inner)
  }

  /** The actor of the executor chart, for observers. */
  get actor(): ActorRefFrom<ExecutorMachine> {
    return this.#core.actor
  }

  /**
   * Adds a call. If the call may run, it is already executing when this returns. Never throws because of a model's input; a
   * problem with a call becomes its result.
   *
   * @param options.hold keeps the call from starting until `release`. A held unsafe call blocks everything behind it; a held
   * safe call is overtaken. Until a held call is released, withdrawn or aborted, the turn does not end.
   * @returns the block for the transcript: with a new id if its id was missing or taken
   */
  addTool(block: ToolUseBlock, assistantMessage: AssistantMessage, options: AddOptions = {}): ToolUseBlock {
    return this.#core.add(block, assistantMessage, options)
  }

  /** Lets a held call start. Returns false if no such call is held. */
  release(id: string): boolean {
    return this.#core.release(id)
  }

  /**
   * Ends a held call that must not run, for example because its reply was cut off. The model gets the reason. Returns false
   * if no such call is held.
   */
  withdraw(id: string, because: string): boolean {
    return this.#core.withdraw(id, because)
  }

  /**
   * Ends every call whose body has not begun, for example after a reply broke off; running calls continue. The model gets
   * the reason.
   */
  withdrawRest(because: string): void {
    this.#core.withdrawRest(because)
  }

  /**
   * Sends a running call to the background: it completes with a result that names its background call, and the query gets
   * the outcome in a later turn. Returns false if the call does not run, its executor belongs to no query, or too many
   * calls are in the background.
   */
  detach(id: string, how?: string | DetachOptions): boolean {
    return this.#core.detach(id, how)
  }

  /** The background calls of the query that it belongs to. */
  get background(): Background | undefined {
    return this.#core.background
  }

  /** Goes on with a background call that the log of a session has. For the query of that session. */
  adopt(logged: LoggedBackground, background: BackgroundCalls): void {
    this.#core.adopt(logged, background)
  }

  /** True once the body of a call that is not read-only has begun: the reply may already have had effects. */
  get hasEffects(): boolean {
    return this.#core.hasEffects
  }

  /** The current state of each call, as `discard` would return it. */
  callsSoFar(): DiscardedCall[] {
    return this.#core.callsSoFar()
  }

  /** The messages that are ready now. Never waits. */
  *getCompletedResults(): Generator<MessageUpdate, void, undefined> {
    const { messages } = this.#core
    for (let update = messages.take(); update !== undefined; update = messages.take()) yield update
  }

  /** All remaining messages, as they become ready; ends when every call has been handed over. */
  getRemainingResults(): AsyncGenerator<MessageUpdate, void, undefined> {
    return new RemainingResults(this.#core.messages.delivery)
  }

  /** Like an abort of the host's controller; may follow an `'interrupt'` with a stronger reason. */
  abort(reason?: unknown): void {
    this.#core.abort(reason)
  }

  /**
   * Drops the run's pending results; returns the calls that had already run.
   *
   * @param reason what the signals of its calls carry; `'streaming_fallback'` by default
   */
  discard(reason?: unknown): DiscardedCall[] {
    return this.#core.discard(reason)
  }

  /** True where calls are recorded and each one that is left waits for an answer that comes later. */
  get isStalled(): boolean {
    return this.#core.isStalled
  }

  /** Resolves when no body runs any more, also after a `discard`: each has settled, or its grace period is over. */
  whenIdle(): Promise<void> {
    return this.#core.whenIdle()
  }

  /**
   * Why a call waits (`held`, `exclusiveRunning`, `behindUnsafe`, `waitsForRunning`, `resource`, `full`), and for which
   * calls; or `discarded` if its run was discarded. With `holders`, calls of other executors hold the resource in
   * `context.locks`. Undefined for calls that run, have ended, or were never added.
   */
  explain(id: string): Admission | undefined {
    const call = this.#core.find(id)
    if (call === undefined || call.stage === 'yielded') return undefined
    if (this.#core.isDiscarded) return { ok: false, because: 'discarded', blockers: [] }
    if (call.stage === 'executing') return explainLocks(call)
    if (call.stage !== 'queued' && call.stage !== 'held') return undefined
    return explainAdmission(call, this.#core.run)
  }

  /** The calls that wait for the host's answer, in the order in which they started. */
  openQuestions(): OpenQuestion[] {
    return this.#core.questions
  }

  /**
   * Answers an open question in place of `canUseTool`. The first answer counts; returns false if the question is no longer
   * open.
   */
  answer(toolUseID: string, answer: PermissionAnswer): boolean {
    return this.#core.answer(toolUseID, answer)
  }

  /**
   * Listens to events of calls (`tool_use_success`, …) and to non-fatal warnings (`warning`). Returns a function that removes
   * the listener.
   */
  on<Type extends keyof ExecutorEvents>(type: Type, listener: (event: ExecutorEvents[Type]) => void): () => void {
    checkListener(type, listener, executorEventTypes)
    return this.#core.on(type, listener)
  }
}
