import type { DecisionSource } from '../../machines/index.ts'
import type { ResultText } from '../results/result-texts.ts'
import { recordDecision } from './call-permit.ts'
import { ownErrorMessage } from './own-error.ts'
import type { ToolCall } from './tool-call.ts'

/** Ends the call: it may not run. */
export function denyCall(call: ToolCall, text: ResultText, source: DecisionSource, stopsTurn = false): void {
  if (!call.isIn('permission')) return
  recordDecision(call, { behavior: 'deny', source })
  call.outcome = { status: 'rejected', message: text.toolUseResult }
  call.outgoing.set([ownErrorMessage(call, text)])
  call.tell({ type: 'permission.denied', stopsTurn })
}
