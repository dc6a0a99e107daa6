import type { PermissionAnswer } from '../tool/permission.ts'
import type { AnswerOrigin } from './ask-channel.ts'
import { ownInput } from './hook-input.ts'
import type { ToolCall } from './tool-call.ts'

/** Records the question before anyone is asked. A recorded question is reopened under the same id. */
export function recordQuestion(call: ToolCall): void {
  const { executor, permit, past, hookVerdict } = call
  const { log } = executor
  if (log === undefined || executor.isDiscarded) return
  const input = ownInput(call)
  const question = log.questionId(call.named.reply, call.id, input)
  const isKnown = permit.recordedAs === question || past?.asked?.question === question
  permit.recordedAs = question
  if (isKnown) return
  const shown = { toolName: call.name, input, ...permit.question }
  const verdict = hookVerdict && { verdict: hookVerdict }
  log.append({ t: 'permission.asked', ...call.named, question, shown, input: call.rawInput, ...verdict })
}

/** Records the answer. It is durable before the body begins. */
export function recordAnswer(call: ToolCall, answer: PermissionAnswer, { by, note }: AnswerOrigin): void {
  const { executor, permit } = call
  if (executor.log === undefined || permit.recordedAs === undefined || executor.isDiscarded) return
  permit.isRecorded = true
  executor.log.append({
    t: 'permission.answered',
    ...call.named,
    question: permit.recordedAs,
    answer,
    by,
    ...(note !== undefined && { note }),
  })
}

/** Continues when all records of the call so far are durable, or when the log has failed. At once if they already are. */
export function whenFlushed(
  { executor: { log } }: ToolCall,
  goOn: (isDurable: boolean) => void,
  isAlone = false,
): void {
  const flushing = log?.flush(isAlone)
  if (flushing === undefined) goOn(log?.failure === undefined)
  else void flushing.then(goOn)
}
