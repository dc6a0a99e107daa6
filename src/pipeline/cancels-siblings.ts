import { answerAtOnce } from '../errors/answer-at-once.ts'
import type { ToolFailure } from '../tool/tool.ts'
import type { ToolCall } from './tool-call.ts'

/** Whether this failure takes the other calls with it. A tool that cannot say has not said so. */
export function cancelsSiblings({ tool }: ToolCall, failure: ToolFailure): boolean {
  const rule = tool?.cancelsSiblingsOnError
  if (typeof rule !== 'function') return rule === true
  try {
    return answerAtOnce(rule(failure)) === true
  } catch {
    return false
  }
}
