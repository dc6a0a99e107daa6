import type { ActorRefFrom } from 'xstate'
import { type Admission, type ExecutorMachine, explainAdmission } from '../../machines/index.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { CanUseTool, PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { type MessageUpdate, RemainingResults } from './delivery.ts'
import type { ExecutorEvents } from './events.ts'
import { type DiscardedCall, ExecutorCore } from './executor-core.ts'
import type { AddOptions } from './intake.ts'
import type { OpenQuestion } from './open-question.ts'
import type { ExecutorOptions } from './options.ts'

/**
 * Runs the tool calls of one reply while the model is still streaming it: safe calls side by side, an unsafe call
 * alone, and one result per call, in the order in which the model asked.
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
   * @param canUseTool answers whether a call may run. Where it is absent, nobody can answer and every call is
   * denied; pass `allowAllTools` to allow them all.
   */
  constructor(
    tools: readonly AnyTool[],
    canUseTool?: CanUseTool,
    toolUseContext?: Partial<ToolUseContext>,
    options?: ExecutorOptions,
  ) {
    this.#core = new ExecutorCore(tools, canUseTool, toolUseContext, options)
  }

  /** The executor chart's actor, for whoever wants to watch it. */
  get actor(): ActorRefFrom<ExecutorMachine> {
    return this.#core.actor
  }

  /**
   * Takes a call in. When it returns, a call that may run is already executing. It never throws for what a model
   * can send; what is wrong with a call becomes its result.
   *
   * @param options.hold keeps the call from starting until `release`. A held unsafe call holds back everything
   * behind it, a held safe one is overtaken. Until a held call is released, withdrawn or aborted, the turn does not end.
   * @returns the block as it has to stand in the transcript: where its id was missing or taken, with a new one
   */
  addTool(block: ToolUseBlock, assistantMessage: AssistantMessage, options: AddOptions = {}): ToolUseBlock {
    return this.#core.add(block, assistantMessage, options)
  }

  /** Lets a held call start. False where no such call is held. */
  release(id: string): boolean {
    return this.#core.release(id)
  }

  /**
   * Ends a held call that must not run after all, such as one whose reply was cut off. The model is told why. False
   * where no such call is held.
   */
  withdraw(id: string, because: string): boolean {
    return this.#core.withdraw(id, because)
  }

  /**
   * Ends every call whose body has not begun, such as those of a reply that broke off; what runs goes on. The model is
   * told why.
   */
  withdrawRest(because: string): void {
    this.#core.withdrawRest(because)
  }

  /** True once the body of a call that is not read-only has begun: what the reply asked for may already have been done. */
  get hasEffects(): boolean {
    return this.#core.hasEffects
  }

  /** What has become of each call so far: what `discard` would return. */
  callsSoFar(): DiscardedCall[] {
    return this.#core.callsSoFar()
  }

  /** What is ready now. Never waits. */
  *getCompletedResults(): Generator<MessageUpdate, void, undefined> {
    for (let update = this.#core.take(); update !== undefined; update = this.#core.take()) yield update
  }

  /** Everything that is still to come, as it becomes ready; ends when every call has been handed over. */
  getRemainingResults(): AsyncGenerator<MessageUpdate, void, undefined> {
    return new RemainingResults(this.#core.delivery)
  }

  /** Does what an abort of the host's controller does, and may follow an `'interrupt'` with a stronger reason. */
  abort(reason?: unknown): void {
    this.#core.abort(reason)
  }

  /** Gives the run up for another one. Nothing leaves it any more; says what had already run. */
  discard(): DiscardedCall[] {
    return this.#core.discard()
  }

  /** Resolves when no body runs any more, after a `discard` too: each has settled, or its grace is over. */
  whenIdle(): Promise<void> {
    return this.#core.whenIdle()
  }

  /**
   * Why a call waits (`held`, `exclusiveRunning`, `behindUnsafe`, `waitsForRunning`, `full`), and for whom; or that
   * it does not, because it was given up with its run (`discarded`). Undefined for calls that run, are over, or were
   * never added.
   */
  explain(id: string): Admission | undefined {
    const call = this.#core.find(id)
    if (call === undefined || call.stage === 'yielded') return undefined
    if (this.#core.isDiscarded) return { ok: false, because: 'discarded', blockers: [] }
    if (call.stage !== 'queued' && call.stage !== 'held') return undefined
    return explainAdmission(call, this.#core.run)
  }

  /** The calls that wait for the host's word, in the order in which they started. */
  openQuestions(): OpenQuestion[] {
    return this.#core.questions
  }

  /**
   * Answers an open question in the place of `canUseTool`. The first answer counts; false where no such question is
   * open any more.
   */
  answer(toolUseID: string, answer: PermissionAnswer): boolean {
    return this.#core.answer(toolUseID, answer)
  }

  /**
   * Listens to what becomes of calls (`tool_use_success`, …), and to what went wrong without costing a result
   * (`warning`). Returns how to stop listening.
   */
  on<Type extends keyof ExecutorEvents>(type: Type, listener: (event: ExecutorEvents[Type]) => void): () => void {
    return this.#core.on(type, listener)
  }
}
