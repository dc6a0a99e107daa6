import { isThenable } from '../errors/answer-at-once.ts'
import type { CanUseTool, PermissionAnswer } from '../tool/permission.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { addRules, readAnswer } from './ask-host.ts'
import type { ToolCall } from './tool-call.ts'

/**
 * What a body asks the host with, such as for the calls of an agent of its own. Rules that come with an answer are for
 * the session, so they hold in this turn as well; what else holds inside stays there.
 */
export function askFromBody(call: ToolCall): CanUseTool | undefined {
  const { canUseTool, allowsEverything } = call.turn
  if (canUseTool === undefined || allowsEverything) return canUseTool
  return (...question) => {
    const answer = canUseTool(...question)
    const heed = (given: PermissionAnswer): PermissionAnswer => {
      takeRules(call, given, question[2])
      return given
    }
    return isThenable(answer) ? Promise.resolve(answer).then(heed) : heed(answer)
  }
}

/** Not those of an answer that came too late to count, nor what the tools inside could not make anything of. */
function takeRules(call: ToolCall, given: PermissionAnswer, context: ToolCallContext): void {
  const answer = readAnswer(given)
  if (answer.behavior === 'unclear' || context?.abortController?.signal?.aborted) return
  addRules(call, answer, context?.options?.tools)
}
