import type { CallPort, Detachment, Ending, Reclassification, StopCause } from '../../machines/index.ts'
import type { HookEvent } from '../hooks/hook.ts'
import { namesOf } from '../tool/tool-box.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { OutgoingMessages } from './outgoing-messages.ts'
import { postHookEvent } from './post-hooks.ts'
import { completedBody, type StateBody, stateBodies } from './state-bodies.ts'
import { abandonBody, stopCall } from './stopping.ts'
import type { ToolCall } from './tool-call.ts'

/**
 * The port of the call chart: what its guards ask, and what its states request. A base class without fields, because a
 * port of its own would be one more object per call.
 */
export abstract class CallChartPort extends OutgoingMessages implements CallPort {
  abstract readonly isDurable: boolean
  abstract readonly unread: number
  /** Queues the function of a state, to run between steps. */
  protected abstract enter(body: StateBody): void

  get isAnswered(): boolean {
    return this.record.answer !== undefined || this.isRecorded
  }

  get isRecorded(): boolean {
    return this.record.past?.completed !== undefined
  }

  get needsRecovery(): boolean {
    const { past } = this.record
    return past?.started !== undefined && past.completed === undefined
  }

  get needsLocking(): boolean {
    return this.record.executor.locks !== undefined
  }

  get needsJournaling(): boolean {
    const { executor, onlyReads, hasRecordedPermit } = this.record
    // the log has the start of a call that runs again
    return executor.log !== undefined && (!onlyReads || hasRecordedPermit) && !this.needsRecovery
  }

  get needsRecording(): boolean {
    return !this.isDurable
  }

  /** The body returned a context modifier. */
  get hasModifier(): boolean {
    const { ending, bodyResult } = this.record
    return ending?.by === 'result' && bodyResult?.ok === true && bodyResult.result.contextModifier !== undefined
  }

  get needsValidation(): boolean {
    const { keys, keysContext, executor } = this.record
    // the context has changed since the tool named the call's resources
    return this.needsInputCheck || (keys !== undefined && executor.peekContext(this.record) !== keysContext)
  }

  get needsInputCheck(): boolean {
    const { isChecked, reading, hasChecks } = this.record
    return !isChecked && (reading.status !== 'valid' || hasChecks)
  }

  get needsPreHooks(): boolean {
    // the hooks have run before the question was asked
    if (this.record.past?.asked !== undefined) return false
    const context = this.record.executor.peekContext(this.record)
    return context === undefined || hasHooks(this.record, context, 'PreToolUse')
  }

  get needsDeciding(): boolean {
    const { past, hookVerdict, hasPermissionCheck, repeats, executor } = this.record
    if (past?.asked !== undefined || repeats !== undefined) return true
    return hookVerdict !== undefined || hasPermissionCheck || !executor.hasPlainPermissions(this.record)
  }

  /** If modifiers wait to be applied, the phase itself decides. */
  get mayBeForbidden(): boolean {
    const context = this.record.executor.peekContext(this.record)
    return context === undefined || context.permissions !== this.record.permit.settings
  }

  get needsAsking(): boolean {
    return !this.record.executor.allowsEverything || this.record.past?.asked !== undefined
  }

  get hasPlace(): boolean {
    return this.record.executor.hasPlace
  }

  mustQueueAgain(change: Reclassification): boolean {
    return this.record.executor.mustQueueAgain(this.record, change)
  }

  get needsPostHooks(): boolean {
    const { ownContext } = this.record
    return ownContext !== undefined && hasHooks(this.record, ownContext, postHookEvent(this.record))
  }

  /** A hook may replace its output, perhaps because the output must not be shown. */
  get mayBeReplaced(): boolean {
    const { ownContext } = this.record
    return ownContext !== undefined && hasHooks(this.record, ownContext, 'PostToolUse')
  }

  get canDetach(): boolean {
    return this.record.executor.background?.hasRoom === true
  }

  recover(): void {
    this.enter(stateBodies.recovering)
  }

  takeLocks(): void {
    this.enter(stateBodies.locking)
  }

  journalStart(): void {
    this.enter(stateBodies.journaling)
  }

  recordResult(): void {
    this.enter(stateBodies.recording)
  }

  validate(): void {
    this.enter(stateBodies.validating)
  }

  runPreHooks(): void {
    this.enter(stateBodies.preHooks)
  }

  decide(): void {
    this.enter(stateBodies.deciding)
  }

  askHost(): void {
    this.enter(stateBodies.asking)
  }

  awaitAnswer(): void {
    this.enter(stateBodies.later)
  }

  callTool(): void {
    this.enter(stateBodies.calling)
  }

  startBackoff(): void {
    this.enter(stateBodies.retrying)
  }

  runPostHooks(): void {
    this.enter(stateBodies.postHooks)
  }

  formatResult(): void {
    this.enter(stateBodies.formatting)
  }

  /** From now on, work for the result may no longer wait. */
  hurry(): void {
    const { record } = this
    record.isHurried = true
    record.executor.push(() => record.hurryUp?.())
  }

  stop(cause: StopCause): void {
    this.record.stopCause = cause
    stopCall(this.record)
  }

  startGrace(): void {
    this.enter(stateBodies.stopping)
  }

  abandon(): void {
    abandonBody(this.record)
  }

  detach(how: Detachment): void {
    const { record } = this
    record.background = record.executor.background?.take(record, how)
  }

  conclude(ending: Ending): void {
    this.record.ending = ending
    completedBody.run(this.record)
  }
}

/** Asked by guards: unreadable hooks count as present, so that the phase itself handles them. */
function hasHooks({ tool, executor }: ToolCall, { hooks }: ToolUseContext, event: HookEvent): boolean {
  if (hooks === undefined || tool === undefined) return false
  try {
    return executor.policy.hooks(hooks, event, namesOf(tool)).length > 0
  } catch {
    return true
  }
}
