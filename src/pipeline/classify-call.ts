import { answerAtOnce } from '../base/answer-at-once.ts'
import type { AnyTool } from '../tool/tool.ts'

/** Safe is only what the tool says is safe, about this very input. */
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

/** Changes nothing only where the tool says so, about this very input. */
export function isReadOnly(tool: AnyTool, input: Record<string, unknown>): boolean {
  try {
    return answerAtOnce(tool.isReadOnly?.(input)) === true
  } catch {
    return false
  }
}
