import type { ToolCall } from '../executor/tool-call.ts'
import type { ToolResultMessage } from '../messages/message.ts'
import { ownErrorMessage } from '../pipeline/own-error.ts'
import { abortText, resultTexts } from './result-texts.ts'

/** The message of a call that came to its end without a body's doing. */
export function endingMessage(call: ToolCall): ToolResultMessage {
  const { ending, answer } = call
  if (ending?.by === 'abort') return ownErrorMessage(call, abortText(ending.cause, ending))
  return ownErrorMessage(call, answer ?? resultTexts.failed('The call ended without a result.'))
}
