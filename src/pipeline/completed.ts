import type { Message } from '../messages/message.ts'
import { abortText, resultTexts } from '../results/result-texts.ts'
import { releaseLocks } from './locking.ts'
import { ownErrorMessage } from './own-error.ts'
import { reportQuestionClosed } from './question-reports.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `completed`: closes an open question and reports the result to listeners. */
export function conclude(call: ToolCall): void {
  const { executor, ending } = call
  if (call.lock !== undefined) executor.push(() => releaseLocks(call))
  if (call.hasReportedQuestion) executor.push(() => reportQuestionClosed(call))
  // the message of the ending replaces everything that the body sent
  if (ending?.by === 'journal') return
  if (ending?.by !== 'result') call.outgoing.drop()
  else if (!executor.report.isWanted && !executor.tellsCompleted) return
  executor.push(() => {
    const messages = call.outgoing.prepare()
    executor.report.completed(call)
    if (executor.tellsCompleted) executor.tellCompleted(call, [...messages])
  })
}

/** The message of a call that ended without a result of its body. */
export function endingMessage(call: ToolCall): Message {
  const { ending, answer } = call
  if (ending?.by === 'abort')
    return ownErrorMessage(call, abortText(ending.cause, ending.reached, call.outputUntilStopped))
  if (ending?.by === 'unknown') return ownErrorMessage(call, resultTexts.unknownOutcome())
  return ownErrorMessage(call, answer ?? resultTexts.failed('The call ended without a result.'))
}
