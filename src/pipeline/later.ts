import { answerFor } from './asking.ts'
import { recordQuestion } from './call-records.ts'
import { reportQuestion } from './question-reports.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `later` of the `permission` phase: the question is open, and the host is notified. `answerFor` ends it. */
export function awaitAnswer(call: ToolCall): void {
  if (!call.isIn('permission')) return
  call.permit.isAsking = true
  recordQuestion(call)
  call.executor.tellDeferred(call)
  reportQuestion(call, answerFor)
}
