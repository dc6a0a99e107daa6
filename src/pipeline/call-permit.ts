import type { Decision, DecisionSource } from '../../machines/index.ts'
import type { PermissionSettings } from '../permission/permission-settings.ts'
import type { ResultText } from '../results/result-texts.ts'
import type { PermissionQuestion } from '../tool/permission.ts'
import type { AskedCall } from './ask-channel.ts'
import { ownErrorMessage } from './own-error.ts'
import type { ToolCall } from './tool-call.ts'

/** The permission state of one call. */
export class CallPermit {
  decision: Decision | undefined
  /** The host was asked and has not answered yet. */
  isAsking = false
  /** The question as it was reported to the session. */
  reported: AskedCall | undefined
  /** The id under which the log has the question. */
  recordedAs: string | undefined
  /** The log has the answer. */
  isRecorded = false
  /** The message of the hook or the tool that requested the question. */
  message: string | undefined
  /** A rule that would prevent the question. */
  rule: string | undefined
  /** The settings on which the decision was based. */
  settings: PermissionSettings | undefined
  /** The number of deny rules in the session when the call was last decided. */
  denyRulesSeen = 0

  get question(): PermissionQuestion {
    const because = this.decision?.source ?? { by: 'mode', mode: 'default' }
    const { message, rule } = this
    return { because, ...(message !== undefined && { message }), ...(rule !== undefined && { rule }) }
  }
}

/** Also stored in the host's `toolDecisions`. */
export function recordDecision(call: ToolCall, decision: Decision): void {
  const { permit } = call
  permit.decision = decision
  try {
    const { permissions, toolDecisions } = call.context
    permit.settings = permissions
    if (toolDecisions instanceof Map) toolDecisions.set(call.id, decision)
  } catch (error) {
    call.executor.warn(call, 'host_callback_failed', 'its decision could not be stored in toolDecisions', error)
  }
}

/** Ends the call: it may not run. */
export function denyCall(call: ToolCall, text: ResultText, source: DecisionSource, stopsTurn = false): void {
  if (!call.isIn('permission')) return
  recordDecision(call, { behavior: 'deny', source })
  call.outcome = { status: 'rejected', message: text.toolUseResult }
  call.outgoing.set([ownErrorMessage(call, text)])
  call.tell({ type: 'permission.denied', stopsTurn })
}
