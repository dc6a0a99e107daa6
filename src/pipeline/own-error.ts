import { readField } from '../base/read-field.ts'
import { createToolResultMessage } from '../messages/create-messages.ts'
import type { ToolResultBlock, ToolResultMessage } from '../messages/message.ts'
import type { ResultText } from '../results/result-texts.ts'
import type { ToolCall } from './tool-call.ts'

export function resultMessage(call: ToolCall, block: ToolResultBlock, toolUseResult: unknown): ToolResultMessage {
  return createToolResultMessage(
    block,
    { toolUseResult, sourceToolAssistantUUID: readField(call.assistantMessage, 'uuid') as string },
    call.executor.settings.idsAndTime,
  )
}

export function ownErrorMessage(call: ToolCall, text: ResultText): ToolResultMessage {
  const block: ToolResultBlock = {
    type: 'tool_result',
    tool_use_id: call.id,
    content: text.content.toWellFormed(),
    is_error: true,
  }
  return resultMessage(call, block, text.toolUseResult)
}
