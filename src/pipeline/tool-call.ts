import type { ActorRefFrom } from 'xstate'
import type {
  CallEvent,
  CallMachine,
  CallPort,
  CallRecord,
  CallStage,
  Decision,
  Ending,
  LockClaim,
  ResourceKeys,
  StopCause,
} from '../../machines/index.ts'
import { type CapturedContext, captureContext } from '../base/async-context.ts'
import type { CallPast } from '../journal/open-turn.ts'
import type { AssistantMessage, Message, ToolUseBlock } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import { describeWhole, shortLabel } from '../tool/describe-call.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolCallContext, ToolUseContext } from '../tool/tool-use-context.ts'
import type { CallAbortController } from './call-abort-controller.ts'
import { CallChartPort } from './call-chart-port.ts'
import { contextOf } from './call-context.ts'
import { type Arrival, type BodyResult, inputOf, type Outcome, type Phase, type SafeGroup } from './call-facts.ts'
import { CallPermit } from './call-permit.ts'
import { CallTimer } from './call-timer.ts'
import type { BodyExecution } from './calling.ts'
import { isReadOnly } from './classify-call.ts'
import type { DetachedAs } from './detaching.ts'
import type { ExecutorServices } from './executor-services.ts'
import type { OutgoingMessages } from './outgoing-messages.ts'
import type { HookVerdict } from './pre-hooks.ts'
import { type InputReading, readInput, type ValidReading } from './read-input.ts'
import { recordChange } from './recording.ts'
import type { HookRuns } from './run-hooks.ts'
import type { StateBody } from './state-bodies.ts'

/**
 * One call: the executor's record of it, and the port of its chart. Each request of the chart goes to the outbox, so that
 * the functions in `pipeline/` run between steps.
 */
export class ToolCall extends CallChartPort implements CallRecord {
  readonly executor: ExecutorServices
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly assistantMessage: AssistantMessage
  readonly tool: AnyTool | undefined
  readonly answer: ResultText | undefined
  readonly yieldsToInterrupt: boolean
  /** Its tool checks inputs, or permissions, itself. */
  readonly hasChecks: boolean
  readonly hasPermissionCheck: boolean
  /** How often the model has made this call in a row with an equal result, if that is too often. */
  readonly repeats: number | undefined
  reading: InputReading
  /** The source of the parsed input: what the model sent, with the changes by hooks and the host. */
  rawInput: unknown
  /** The input has passed the `validating` phase; a call that is queued again skips it. */
  isChecked = false

  isSafe: boolean
  keys: ResourceKeys | undefined
  /** The context that its tool got when it last named its resources. */
  keysContext: ToolUseContext | undefined
  /** Its keys in the locks that its executor shares with others. */
  lock: LockClaim | undefined
  index = -1
  stage: CallStage
  hasStarted = false
  ref: ActorRefFrom<CallMachine> | undefined

  get hasBegun(): boolean {
    return this.body !== undefined || this.needsRecovery
  }

  /** Its recorded state, from an earlier process. */
  readonly past: CallPast | undefined
  /** It changes nothing. Only known where there is a log. */
  onlyReads: boolean
  isDurable: boolean
  /** Called when its context modifier has been applied. */
  onContextApplied: ((call: ToolCall) => unknown) | undefined

  unread = 1
  /** The group of consecutive safe calls that this call belongs to; all of them see one context. */
  safeGroup: SafeGroup | undefined
  body: BodyExecution | undefined
  /** The background call that its body has become. */
  background: DetachedAs | undefined
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
  /** The context of this call, and the shared context that it was made of. Absent until the first use. */
  ownContext: ToolCallContext | undefined
  contextBase: ToolUseContext | undefined
  /** The context after this call's modifier and those of all calls before it. */
  contextAfter: ToolUseContext | undefined
  /** Captured only if code of the call may run from elsewhere: see `keepAsyncContext`. */
  #asyncContext: CapturedContext | undefined
  #permit: CallPermit | undefined

  constructor(executor: ExecutorServices, arrival: Arrival, asyncContext?: CapturedContext) {
    super()
    this.#asyncContext = asyncContext
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
    this.hasChecks = arrival.hasChecks
    this.hasPermissionCheck = arrival.hasPermissionCheck
    this.repeats = arrival.repeats
    this.stage = arrival.isHeld ? 'held' : 'queued'
    this.isDurable = executor.log === undefined || this.isRecorded
    if (this.past !== undefined) this.#goOnFrom(this.past)
  }

  /** Its body goes on without its turn. */
  get isDetached(): boolean {
    return false
  }

  /** Its body began in an earlier process. */
  get isRecovered(): boolean {
    return this.needsRecovery
  }

  /** Its own body aborts its controller, in the background. */
  stopItself(_reason: unknown): void {}

  get port(): CallPort {
    return this
  }

  get outgoing(): OutgoingMessages {
    return this
  }

  protected get record(): ToolCall {
    return this
  }

  /** The fields that identify the call in the log. */
  get named(): { readonly reply: string; readonly call: string } {
    return { reply: this.assistantMessage.message.id, call: this.id }
  }

  /** An input that passed all checks. */
  accept(checked: ValidReading): void {
    this.reading = checked
    this.isChecked = true
    if (this.executor.log === undefined || this.tool === undefined) return
    this.onlyReads = isReadOnly(this.tool, checked.input)
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

  /** The log has the answer to its question. */
  get hasRecordedPermit(): boolean {
    return this.#permit?.isRecorded === true
  }

  get timer(): CallTimer {
    const { clock } = this.executor.settings
    this.startedTimer ??= new CallTimer(clock, (cause) => this.tell({ type: 'call.timedOut', cause }))
    return this.startedTimer
  }

  get context(): ToolCallContext {
    return contextOf(this)
  }

  /** The call is queued again as unsafe, and will get the context of an unsafe call. */
  forgetContext(): void {
    this.ownContext = undefined
  }

  /** The call as the model requested it, such as `Bash(npm test)`; a tool may have changed its input since. */
  get description(): string {
    return shortLabel(this.name, this.wholeDescription)
  }

  /** The same with the whole summary. */
  get wholeDescription(): string {
    const { tool, name, block, executor } = this
    const reading = tool && readInput(tool, block.input, executor.settings.maxInputChars)
    return describeWhole(tool, name, reading?.status === 'valid' ? reading.input : block.input)
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
      this.ownContext = undefined
      this.contextBase = undefined
      this.contextAfter = undefined
      this.replacement = undefined
    }
    return message
  }

  #goOnFrom({ asked, completed, changes }: CallPast): void {
    this.hookVerdict = asked?.verdict
    if (completed !== undefined) this.outgoing.set([...completed])
    if (changes !== undefined) this.onContextApplied = recordChange
  }

  get asyncContext(): CapturedContext | undefined {
    return this.#asyncContext
  }

  /**
   * Body, hooks and questions run in the async context in which the call was added, whoever answers. Called in that
   * context, unless the body has begun there and nothing but its own promise continues the call.
   */
  keepAsyncContext(): void {
    this.#asyncContext ??= captureContext()
  }

  /** Queues the function of a state, to run between steps. */
  protected enter(body: StateBody): void {
    this.executor.pushFor(this, body.enter)
  }

  runState({ phase, run }: StateBody): void {
    this.executor.report.entered(this, phase)
    if (this.#asyncContext === undefined) run(this)
    else this.#asyncContext.run(run, this)
  }
}
