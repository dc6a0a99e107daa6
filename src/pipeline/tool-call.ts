import type { ActorRefFrom } from 'xstate'
import type {
  CallEvent,
  CallMachine,
  CallPort,
  CallRecord,
  CallStage,
  Decision,
  Ending,
  StopCause,
} from '../../machines/index.ts'
import type { HookEvent } from '../hooks/hook.ts'
import type { AssistantMessage, Message, ToolUseBlock } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import { describeCall } from '../tool/describe-call.ts'
import type { AnyTool } from '../tool/tool.ts'
import { namesOf } from '../tool/tool-box.ts'
import type { ToolCallContext, ToolUseContext } from '../tool/tool-use-context.ts'
import { askHost } from './ask-host.ts'
import { CallAbortController } from './call-abort-controller.ts'
import type { Arrival, Outcome, Phase, SafeRun, Settled } from './call-facts.ts'
import type { CallHost } from './call-host.ts'
import { CallPermit } from './call-permit.ts'
import { CallTimer } from './call-timer.ts'
import { type BodyRun, callTool } from './call-tool.ts'
import { CallTrail } from './call-trail.ts'
import { decide } from './decide.ts'
import { endingMessage } from './ending-message.ts'
import { formatResult } from './format-result.ts'
import { postHookEvent, runPostHooks } from './post-hooks.ts'
import { type HookVerdict, runPreHooks } from './pre-hooks.ts'
import { type InputReading, readInput } from './read-input.ts'
import { startBackoff } from './retry.ts'
import type { HookRuns } from './run-hooks.ts'
import type { TimedPhase } from './telemetry.ts'
import { validateCall } from './validate-call.ts'

/**
 * One call: the executor's record of it, and the port through which its chart gets work done. Each request goes to
 * the outbox, so that the bodies in `pipeline/` run when the charts are at rest.
 */
export class ToolCall implements CallRecord, CallPort {
  readonly turn: CallHost
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly assistantMessage: AssistantMessage
  readonly tool: AnyTool | undefined
  readonly answer: ResultText | undefined
  readonly yieldsToInterrupt: boolean
  reading: InputReading
  /** What the reading was made of: what the model sent, with the changes that hooks and host made. */
  rawInput: unknown
  /** The input has passed the `validating` phase; one that goes back to the line need not pass it again. */
  isChecked = false

  isSafe: boolean
  index = -1
  stage: CallStage
  hasStarted = false
  ref: ActorRefFrom<CallMachine> | undefined

  unread = 1
  /** The run of consecutive safe calls that this one belongs to; all of them see one context. */
  safeRun: SafeRun | undefined
  body: BodyRun | undefined
  settled: Settled | undefined
  /** How often its body has run. */
  attempts = 0
  /** How long, all attempts together. */
  bodyMs: number | undefined
  /** How long until the next attempt. */
  backoffMs: number | undefined
  hookRuns: HookRuns | undefined
  hookVerdict: HookVerdict | undefined
  /** What a hook put in place of the tool's output. */
  replacement: { readonly data: unknown; readonly by: string } | undefined
  /** Nothing that is done for its result may wait any more. */
  isHurried = false
  outcome: Outcome | undefined
  /** Why it was told to stop; a body that has not begun by then never does. */
  stopCause: StopCause | undefined
  ending: Ending | undefined
  /** Ends what is done for a result and waits for something. */
  hurryUp: (() => void) | undefined
  /** Most calls need none: no limit, no retry, no grace. */
  startedTimer: CallTimer | undefined
  /** The context after this call's modifier and those of all calls before it. */
  contextAfter: ToolUseContext | undefined
  readonly #hasChecks: boolean
  readonly #hasPermissionCheck: boolean
  #trail: CallTrail | undefined
  #permit: CallPermit | undefined
  #outgoing: Message[] | undefined
  #taken = 0
  #controller: CallAbortController | undefined
  #context: ToolCallContext | undefined
  #contextBase: ToolUseContext | undefined

  constructor(turn: CallHost, arrival: Arrival) {
    this.turn = turn
    this.id = arrival.id
    this.name = arrival.name
    this.block = arrival.block
    this.assistantMessage = arrival.assistantMessage
    this.tool = arrival.tool
    this.answer = arrival.answer
    this.reading = arrival.reading
    this.rawInput = arrival.block.input
    this.isSafe = arrival.isSafe
    this.yieldsToInterrupt = arrival.yieldsToInterrupt
    this.#hasChecks = arrival.hasChecks
    this.#hasPermissionCheck = arrival.hasPermissionCheck
    this.stage = arrival.isHeld ? 'held' : 'queued'
  }

  get port(): CallPort {
    return this
  }

  get isAnswered(): boolean {
    return this.answer !== undefined
  }

  get needsValidation(): boolean {
    return !this.isChecked && (this.reading.status !== 'valid' || this.#hasChecks)
  }

  get needsPreHooks(): boolean {
    const context = this.turn.peekContext(this)
    return context === undefined || this.#hasHooks(context, 'PreToolUse')
  }

  get needsDeciding(): boolean {
    return this.hookVerdict !== undefined || this.#hasPermissionCheck || !this.turn.hasPlainPermissions(this)
  }

  /** Asked by a guard: where modifiers wait to be applied, the phase itself finds out. */
  get mayBeForbidden(): boolean {
    const context = this.turn.peekContext(this)
    return context === undefined || context.permissions !== this.permit.settings
  }

  get needsAsking(): boolean {
    return !this.turn.allowsEverything
  }

  get needsPostHooks(): boolean {
    return this.#context !== undefined && this.#hasHooks(this.#context, postHookEvent(this))
  }

  validate(): void {
    this.#enter('validating', validateCall)
  }

  runPreHooks(): void {
    this.#enter('preHooks', runPreHooks)
  }

  decide(): void {
    this.#enter('permission', decide)
  }

  askHost(): void {
    this.#enter('permission', askHost)
  }

  callTool(): void {
    this.#enter('calling', callTool)
  }

  startBackoff(): void {
    this.#enter('retrying', startBackoff)
  }

  runPostHooks(): void {
    this.#enter('postHooks', runPostHooks)
  }

  formatResult(): void {
    this.#enter('formatting', formatResult)
  }

  /** From here on nothing that is done for the result may wait. */
  hurry(): void {
    this.isHurried = true
    this.turn.push(() => this.hurryUp?.())
  }

  stop(cause: StopCause): void {
    this.stopCause = cause
    for (const outcome of this.hookRuns?.cancel(cause.reason) ?? []) this.trail.addHook('PreToolUse', outcome, this.id)
    if (this.#controller === undefined && this.startedTimer === undefined) return
    this.turn.push(() => {
      this.startedTimer?.clear()
      this.#controller?.stop(cause.reason)
    })
  }

  startGrace(): void {
    this.#enter('stopping', () => this.body?.startGrace(this.turn.settings.abortGraceMs))
  }

  abandon(): void {
    this.body?.abandon()
    this.turn.push(() => this.turn.warn(this, 'abandoned', 'it did not stop within its grace'))
  }

  conclude(ending: Ending): void {
    this.ending = ending
    if (ending.by !== 'result') {
      // whatever the body left is replaced
      this.#outgoing = undefined
      this.unread = 1 + (this.#trail?.length ?? 0)
    }
    if (ending.by === 'result' && !this.turn.report.isWanted && !this.turn.tellsSettled) return
    this.turn.push(() => {
      this.#prepareMessages()
      this.turn.report.completed(this)
      if (this.turn.tellsSettled) this.turn.tellSettled(this, [...(this.#outgoing ?? [])])
    })
  }

  /** What its hooks did, and who changed its input. */
  get trail(): CallTrail {
    this.#trail ??= new CallTrail()
    return this.#trail
  }

  get permit(): CallPermit {
    this.#permit ??= new CallPermit()
    return this.#permit
  }

  get decision(): Decision | undefined {
    return this.#permit?.decision
  }

  get isAsking(): boolean {
    return this.#permit?.isAsking === true && this.isIn('permission')
  }

  get timer(): CallTimer {
    const { clock } = this.turn.settings
    this.startedTimer ??= new CallTimer(clock, (cause) => this.tell({ type: 'call.timedOut', cause }))
    return this.startedTimer
  }

  /** Written down where the host looks, too. */
  recordDecision(decision: Decision): void {
    this.permit.decision = decision
    try {
      const { permissions, toolDecisions } = this.context
      this.permit.settings = permissions
      if (toolDecisions instanceof Map) toolDecisions.set(this.id, decision)
    } catch (error) {
      this.turn.warn(this, 'host_callback_failed', 'its decision could not be written into toolDecisions', error)
    }
  }

  /** The context as this call sees it. Until its body begins, that may become another: calls before it may end. */
  get context(): ToolCallContext {
    const base = this.turn.contextFor(this)
    if (this.#context === undefined || (base !== this.#contextBase && this.body === undefined)) {
      this.#contextBase = base
      const own = { toolUseID: this.id, abortController: this.#abortController() }
      // not a spread: one that adds a key costs ten times as much
      this.#context = Object.assign({}, base, own)
    }
    return this.#context
  }

  /** It goes back to the line as an unsafe call, and will see what an unsafe call sees. */
  forgetContext(): void {
    this.#context = undefined
  }

  /** The call as the model asked for it, such as `Bash(npm test)`; a tool may have changed its input since. */
  get description(): string {
    const { tool, name, block, turn } = this
    const reading = tool && readInput(tool, block.input, turn.settings.maxInputChars)
    return describeCall(tool, name, reading?.status === 'valid' ? reading.input : block.input)
  }

  /** Tells the chart what came of its request. One that has moved on does not listen. */
  tell(event: CallEvent): void {
    const { ref } = this
    if (ref?.getSnapshot().status === 'active') this.turn.send(ref, event)
  }

  /** Whether the chart is still in this phase, and so waits for what comes of it. */
  isIn(phase: Phase): boolean {
    return this.ref?.getSnapshot().matches({ executing: phase }) === true
  }

  /** Its result, and what comes with it; the trail comes last. */
  setMessages(messages: Message[]): void {
    this.#outgoing = this.#withTrail(messages)
    this.unread = this.#outgoing.length
  }

  /** The next message for a reader. The chart has counted it already. */
  takeMessage(): Message {
    this.#prepareMessages()
    const message = this.#outgoing?.[this.#taken++] as Message
    if (this.unread === 0) this.#letGo()
    return message
  }

  /** All is handed over: what the call brought is now the reader's alone to keep. */
  #letGo(): void {
    this.#outgoing = []
    this.#taken = 0
    this.settled = undefined
    this.#context = undefined
    this.#contextBase = undefined
    this.contextAfter = undefined
    this.#trail = undefined
    this.replacement = undefined
  }

  #prepareMessages(): void {
    this.#outgoing ??= this.#withTrail([endingMessage(this)])
  }

  #withTrail(messages: Message[]): Message[] {
    if (this.#trail === undefined) return messages
    return [...messages, ...this.#trail.messages(this.id, this.turn.settings.stamps)]
  }

  #enter(phase: TimedPhase, body: (call: ToolCall) => void): void {
    this.turn.push(() => {
      this.turn.report.entered(this, phase)
      body(this)
    })
  }

  /** Asked by a guard: what cannot be read counts as there, so that the phase itself finds out. */
  #hasHooks({ hooks }: ToolUseContext, event: HookEvent): boolean {
    if (hooks === undefined || this.tool === undefined) return false
    try {
      return this.turn.policy.hooks(hooks, event, namesOf(this.tool)).length > 0
    } catch {
      return true
    }
  }

  /** Aborted from inside: the turn ends, and this call with it, whatever the others make of the reason. */
  #stopsTurn(reason: unknown): void {
    if (this.stage !== 'executing' && this.stage !== 'queued') return
    this.turn.stopTurn(reason)
    this.tell({ type: 'call.abort', cause: { kind: 'user_interrupted', reason } })
  }

  #abortController(): CallAbortController {
    if (this.#controller === undefined) {
      this.#controller = new CallAbortController((reason) => this.#stopsTurn(reason))
      if (this.stopCause !== undefined) this.#controller.stop(this.stopCause.reason)
    }
    return this.#controller
  }
}
