import type { PermissionAnswer } from '../tool/permission.ts'
import { type AnswerOrigin, type AskedCall, channelOf } from './ask-channel.ts'
import { ownInput } from './hook-input.ts'
import type { ToolCall } from './tool-call.ts'

/** Reports to the surrounding session, if any, that a call waits for an answer. */
export function reportQuestion(
  call: ToolCall,
  take: (call: ToolCall, answer: PermissionAnswer, origin?: AnswerOrigin) => boolean,
): void {
  const asks = channelOf(call.executor.canUseTool)
  const { tool, permit } = call
  if (asks?.questions === undefined || tool === undefined || permit.reported !== undefined || !call.isAsking) return
  const reported: AskedCall = {
    agents: asks.agents,
    reply: call.assistantMessage.message.id,
    toolUseID: call.id,
    toolName: call.name,
    input: ownInput(call),
    ...permit.question,
    ...(permit.recordedAs !== undefined && { id: permit.recordedAs }),
    answer: (answer, origin) => permit.reported === reported && take(call, answer, origin),
  }
  permit.reported = reported
  asks.questions.opened(reported)
}

/** Reports that the question was answered, or that its call has ended. */
export function reportQuestionClosed(call: ToolCall): void {
  const { reported } = call.permit
  if (reported === undefined) return
  call.permit.reported = undefined
  channelOf(call.executor.canUseTool)?.questions?.closed(reported)
}
