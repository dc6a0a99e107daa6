import type { AnyTool } from '../tool/tool.ts'

/** Safe is only what the tool says is safe, about this very input. */
export function isConcurrencySafe(tool: AnyTool, input: Record<string, unknown>): boolean {
  try {
    return tool.isConcurrencySafe?.(input) === true
  } catch {
    return false
  }
}

export function yieldsToInterrupt(tool: AnyTool): boolean {
  try {
    return tool.interruptBehavior?.() === 'cancel'
  } catch {
    return false
  }
}
