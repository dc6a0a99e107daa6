import type { ToolResultMessage } from '../messages/message.ts'
import { abortText, resultTexts } from '../results/result-texts.ts'
import { ownErrorMessage } from './own-error.ts'
import type { ToolCall } from './tool-call.ts'

/** The message of a call that came to its end without a body's doing. */
export function endingMessage(call: ToolCall): ToolResultMessage {
  const { ending, answer } = call
  if (ending?.by === 'abort') return ownErrorMessage(call, abortText(ending.cause, ending.reached))
  return ownErrorMessage(call, answer ?? resultTexts.failed('The call ended without a result.'))
}
