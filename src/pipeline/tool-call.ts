import type { ActorRefFrom } from 'xstate'
import type {
  CallEvent,
  CallMachine,
  CallPort,
  CallRecord,
  CallStage,
  Decision,
  Ending,
  ResourceKeys,
  StopCause,
} from '../../machines/index.ts'
import { captureContext } from '../base/async-context.ts'
import type { HookEvent } from '../hooks/hook.ts'
import type { CallPast } from '../journal/open-turn.ts'
import type { AssistantMessage, Message, ToolUseBlock } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import { describeCall } from '../tool/describe-call.ts'
import type { AnyTool } from '../tool/tool.ts'
import { namesOf } from '../tool/tool-box.ts'
import type { ToolCallContext, ToolUseContext } from '../tool/tool-use-context.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { Arrival, BodyResult, Outcome, Phase, SafeGroup } from './call-facts.ts'
import { CallPermit } from './call-permit.ts'
import { CallTimer } from './call-timer.ts'
import type { CallTrail } from './call-trail.ts'
import type { BodyExecution } from './calling.ts'
import { isReadOnly } from './classify-call.ts'
import type { ExecutorServices } from './executor-services.ts'
import { OutgoingMessages } from './outgoing-messages.ts'
import { postHookEvent } from './post-hooks.ts'
import type { HookVerdict } from './pre-hooks.ts'
import { type InputReading, readInput, type ValidReading } from './read-input.ts'
import type { HookRuns } from './run-hooks.ts'
import { completedBody, type StateBody, stateBodies } from './state-bodies.ts'
import { abandonBody, stopCall } from './stopping.ts'

/**
 * One call: the executor's record of it, and the port of its chart. Each request of the chart goes to the outbox, so that
 * the functions in `pipeline/` run between steps.
 */
export class ToolCall implements CallRecord, CallPort {
  readonly executor: ExecutorServices
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly assistantMessage: AssistantMessage
  readonly tool: AnyTool | undefined
  readonly answer: ResultText | undefined
  readonly yieldsToInterrupt: boolean
  reading: InputReading
  /** The source of the parsed input: what the model sent, with the changes by hooks and the host. */
  rawInput: unknown
  /** The input has passed the `validating` phase; a call that is queued again skips it. */
  isChecked = false

  isSafe: boolean
  keys: ResourceKeys | undefined
  /** The context that its tool got when it last named its resources. */
  keysContext: ToolUseContext | undefined
  index = -1
  stage: CallStage
  hasStarted = false
  ref: ActorRefFrom<CallMachine> | undefined

  get hasBegun(): boolean {
    return this.body !== undefined || this.needsRecovery
  }

  /** What a log says of it, from an earlier process. */
  readonly past: CallPast | undefined
  /** It changes nothing. Only known where there is a log. */
  onlyReads: boolean
  isDurable: boolean
  /** Told when its context modifier has been applied. */
  onContextApplied: (() => void) | undefined

  unread = 1
  /** The group of consecutive safe calls that this call belongs to; all of them see one context. */
  safeGroup: SafeGroup | undefined
  body: BodyExecution | undefined
  bodyResult: BodyResult | undefined
  /** The output of its body until it was told to stop. */
  outputUntilStopped: string | undefined
  /** How often its body has run. */
  attempts = 0
  /** The duration of all attempts together. */
  bodyMs: number | undefined
  /** The delay before the next attempt. */
  backoffMs: number | undefined
  hookRuns: HookRuns | undefined
  hookVerdict: HookVerdict | undefined
  /** A hook's replacement for the tool's output. */
  replacement: { readonly data: unknown; readonly by: string } | undefined
  /** Work for its result may no longer wait. */
  isHurried = false
  outcome: Outcome | undefined
  /** Why it was told to stop; a body that has not begun by then never does. */
  stopCause: StopCause | undefined
  ending: Ending | undefined
  /** Ends work for its result that waits for something. */
  hurryUp: (() => void) | undefined
  /** Created when needed: most calls have no limit, no retry and no grace period. */
  startedTimer: CallTimer | undefined
  /** Created with the context. */
  startedController: CallAbortController | undefined
  readonly outgoing = new OutgoingMessages(this)
  /** The context after this call's modifier and those of all calls before it. */
  contextAfter: ToolUseContext | undefined
  /** Its body, hooks and questions run in the async context in which the call was added, whoever answers. */
  readonly #asyncContext = captureContext()
  readonly #hasChecks: boolean
  readonly #hasPermissionCheck: boolean
  #permit: CallPermit | undefined
  #context: ToolCallContext | undefined
  #contextBase: ToolUseContext | undefined

  constructor(executor: ExecutorServices, arrival: Arrival) {
    this.executor = executor
    this.id = arrival.id
    this.name = arrival.name
    this.block = arrival.block
    this.assistantMessage = arrival.assistantMessage
    this.tool = arrival.tool
    this.answer = arrival.answer
    this.reading = arrival.reading
    this.past = arrival.past
    this.onlyReads = arrival.onlyReads
    this.rawInput = inputOf(arrival)
    this.isSafe = arrival.isSafe
    this.keys = arrival.keys?.keys
    this.keysContext = arrival.keysContext
    this.yieldsToInterrupt = arrival.yieldsToInterrupt
    this.#hasChecks = arrival.hasChecks
    this.#hasPermissionCheck = arrival.hasPermissionCheck
    this.stage = arrival.isHeld ? 'held' : 'queued'
    this.isDurable = executor.log === undefined || this.isRecorded
    if (this.past !== undefined) this.#goOnFrom(this.past)
  }

  get port(): CallPort {
    return this
  }

  get isAnswered(): boolean {
    return this.answer !== undefined || this.isRecorded
  }

  get isRecorded(): boolean {
    return this.past?.completed !== undefined
  }

  get needsRecovery(): boolean {
    return this.past?.started !== undefined && this.past.completed === undefined
  }

  get needsJournaling(): boolean {
    return this.executor.log !== undefined && (!this.onlyReads || this.#permit?.isRecorded === true)
  }

  get needsRecording(): boolean {
    return !this.isDurable
  }

  /** How the log names it. */
  get named(): { readonly reply: string; readonly call: string } {
    return { reply: this.assistantMessage.message.id, call: this.id }
  }

  /** Its body has left something that changes the context. */
  get hasModifier(): boolean {
    return (
      this.ending?.by === 'result' &&
      this.bodyResult?.ok === true &&
      this.bodyResult.result.contextModifier !== undefined
    )
  }

  get needsValidation(): boolean {
    return this.needsInputCheck || this.#hasStaleKeys
  }

  get needsInputCheck(): boolean {
    return !this.isChecked && (this.reading.status !== 'valid' || this.#hasChecks)
  }

  /** The context has changed since the tool named the call's resources. */
  get #hasStaleKeys(): boolean {
    return this.keys !== undefined && this.executor.peekContext(this) !== this.keysContext
  }

  get needsPreHooks(): boolean {
    // hooks of a call that was asked for have run
    if (this.past?.asked !== undefined) return false
    const context = this.executor.peekContext(this)
    return context === undefined || this.#hasHooks(context, 'PreToolUse')
  }

  get needsDeciding(): boolean {
    if (this.past?.asked !== undefined) return true
    return this.hookVerdict !== undefined || this.#hasPermissionCheck || !this.executor.hasPlainPermissions(this)
  }

  /** Called by a guard: if modifiers wait to be applied, the phase itself decides. */
  get mayBeForbidden(): boolean {
    const context = this.executor.peekContext(this)
    return context === undefined || context.permissions !== this.permit.settings
  }

  get needsAsking(): boolean {
    return !this.executor.allowsEverything || this.past?.asked !== undefined
  }

  get hasPlace(): boolean {
    return this.executor.hasPlace
  }

  get needsPostHooks(): boolean {
    return this.#context !== undefined && this.#hasHooks(this.#context, postHookEvent(this))
  }

  /** A hook may replace its output, perhaps because the output must not be shown. */
  get mayBeReplaced(): boolean {
    return this.#context !== undefined && this.#hasHooks(this.#context, 'PostToolUse')
  }

  recover(): void {
    this.#enter(stateBodies.recovering)
  }

  journalStart(): void {
    this.#enter(stateBodies.journaling)
  }

  recordResult(): void {
    this.#enter(stateBodies.recording)
  }

  validate(): void {
    this.#enter(stateBodies.validating)
  }

  runPreHooks(): void {
    this.#enter(stateBodies.preHooks)
  }

  decide(): void {
    this.#enter(stateBodies.deciding)
  }

  askHost(): void {
    this.#enter(stateBodies.asking)
  }

  awaitAnswer(): void {
    this.#enter(stateBodies.later)
  }

  callTool(): void {
    this.#enter(stateBodies.calling)
  }

  startBackoff(): void {
    this.#enter(stateBodies.retrying)
  }

  runPostHooks(): void {
    this.#enter(stateBodies.postHooks)
  }

  formatResult(): void {
    this.#enter(stateBodies.formatting)
  }

  /** From now on, work for the result may no longer wait. */
  hurry(): void {
    this.isHurried = true
    this.executor.push(() => this.hurryUp?.())
  }

  stop(cause: StopCause): void {
    this.stopCause = cause
    stopCall(this)
  }

  startGrace(): void {
    this.#enter(stateBodies.stopping)
  }

  abandon(): void {
    abandonBody(this)
  }

  conclude(ending: Ending): void {
    this.ending = ending
    completedBody.run(this)
  }

  /** An input that passed all checks. */
  accept(checked: ValidReading): void {
    this.reading = checked
    this.isChecked = true
    if (this.executor.log === undefined || this.tool === undefined) return
    this.onlyReads = isReadOnly(this.tool, checked.input)
  }

  /** What its hooks did, and changes of its input. */
  get trail(): CallTrail {
    return this.outgoing.trail
  }

  get permit(): CallPermit {
    this.#permit ??= new CallPermit()
    return this.#permit
  }

  get decision(): Decision | undefined {
    return this.#permit?.decision
  }

  get hasReportedQuestion(): boolean {
    return this.#permit?.reported !== undefined
  }

  get isAsking(): boolean {
    return this.#permit?.isAsking === true && this.isIn('permission')
  }

  /** Its question waits for somebody who answers later. */
  get isLater(): boolean {
    return this.ref?.getSnapshot().matches({ executing: { permission: 'later' } }) === true
  }

  get timer(): CallTimer {
    const { clock } = this.executor.settings
    this.startedTimer ??= new CallTimer(clock, (cause) => this.tell({ type: 'call.timedOut', cause }))
    return this.startedTimer
  }

  /** Also stored in the host's `toolDecisions`. */
  recordDecision(decision: Decision): void {
    this.permit.decision = decision
    try {
      const { permissions, toolDecisions } = this.context
      this.permit.settings = permissions
      if (toolDecisions instanceof Map) toolDecisions.set(this.id, decision)
    } catch (error) {
      this.executor.warn(this, 'host_callback_failed', 'its decision could not be stored in toolDecisions', error)
    }
  }

  /** The context of this call. It may change until the body begins, because earlier calls may end. */
  get context(): ToolCallContext {
    const base = this.executor.contextFor(this)
    if (this.#context === undefined || (base !== this.#contextBase && this.body === undefined)) {
      this.#contextBase = base
      const own = { toolUseID: this.id, abortController: this.#abortController() }
      // not a spread: a spread that adds a key is ten times slower
      this.#context = Object.assign({}, base, own)
    }
    return this.#context
  }

  /** The call is queued again as unsafe, and will get the context of an unsafe call. */
  forgetContext(): void {
    this.#context = undefined
  }

  /** The call as the model requested it, such as `Bash(npm test)`; a tool may have changed its input since. */
  get description(): string {
    const { tool, name, block, executor } = this
    const reading = tool && readInput(tool, block.input, executor.settings.maxInputChars)
    return describeCall(tool, name, reading?.status === 'valid' ? reading.input : block.input)
  }

  /** Reports an outcome to the chart. A chart that has moved on ignores it. */
  tell(event: CallEvent): void {
    const { ref } = this
    if (ref?.getSnapshot().status === 'active') this.executor.send(ref, event)
  }

  /** Whether the chart is still in this phase. */
  isIn(phase: Phase): boolean {
    return this.ref?.getSnapshot().matches({ executing: phase }) === true
  }

  /** The next message for a reader. After the last one, the call lets go of everything that only its reader needs. */
  takeMessage(): Message {
    const message = this.outgoing.take()
    if (this.unread === 0) {
      this.outgoing.clear()
      this.bodyResult = undefined
      this.#context = undefined
      this.#contextBase = undefined
      this.contextAfter = undefined
      this.replacement = undefined
    }
    return message
  }

  /** Nobody has read its result, and its raw data is not kept any longer. What changes the context stays. */
  dropRawData(): void {
    this.replacement = undefined
    if (this.bodyResult?.ok !== true) return
    const { contextModifier } = this.bodyResult.result
    this.bodyResult = { ok: true, result: { data: undefined, ...(contextModifier && { contextModifier }) } }
  }

  #goOnFrom({ asked, completed }: CallPast): void {
    this.hookVerdict = asked?.verdict
    if (completed !== undefined) this.outgoing.set([...completed])
  }

  /** Queues the function of a state, to run between steps. */
  #enter({ phase, run }: StateBody): void {
    this.executor.push(() => {
      this.executor.report.entered(this, phase)
      if (this.#asyncContext === undefined) run(this)
      else this.#asyncContext.run(run, this)
    })
  }

  /** Called by a guard: unreadable hooks count as present, so that the phase itself handles them. */
  #hasHooks({ hooks }: ToolUseContext, event: HookEvent): boolean {
    if (hooks === undefined || this.tool === undefined) return false
    try {
      return this.executor.policy.hooks(hooks, event, namesOf(this.tool)).length > 0
    } catch {
      return true
    }
  }

  /** Aborted from inside: ends the turn and this call, whatever the reason means for other calls. */
  #stopsTurn(reason: unknown): void {
    if (this.stage !== 'executing' && this.stage !== 'queued') return
    this.executor.stopTurn(reason)
    this.tell({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
  }

  #abortController(): CallAbortController {
    if (this.startedController === undefined) {
      this.startedController = new CallAbortController((reason) => this.#stopsTurn(reason))
      if (this.stopCause !== undefined) this.startedController.stop(this.stopCause.reason)
    }
    return this.startedController
  }
}

/** As the log has it, with the changes of hooks and host. */
export const inputOf = ({ block, past }: Pick<Arrival, 'block' | 'past'>): unknown =>
  (past?.started ?? past?.asked)?.input ?? block.input
