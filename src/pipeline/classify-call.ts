import { answerAtOnce } from '../base/when-settled.ts'
import type { AnyTool } from '../tool/tool.ts'

/** Safe only if the tool says so for this input. */
export function isConcurrencySafe(tool: AnyTool, input: Record<string, unknown>): boolean {
  try {
    return answerAtOnce(tool.isConcurrencySafe?.(input)) === true
  } catch {
    return false
  }
}

export function yieldsToInterrupt(tool: AnyTool): boolean {
  try {
    return answerAtOnce(tool.interruptBehavior?.()) === 'cancel'
  } catch {
    return false
  }
}

/** Read-only only if the tool says so for this input. */
export function isReadOnly(tool: AnyTool, input: Record<string, unknown>): boolean {
  try {
    return answerAtOnce(tool.isReadOnly?.(input)) === true
  } catch {
    return false
  }
}
