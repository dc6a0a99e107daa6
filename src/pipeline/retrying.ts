import { answerAtOnce } from '../base/when-settled.ts'
import type { ToolCall } from './tool-call.ts'

/** The longest delay that timers support. */
const maxDelay = 2 ** 31 - 1

/** The delay before a failed call runs again; undefined if it does not. */
export function backoffBefore(call: ToolCall, error: unknown): number | undefined {
  const { tool, attempts, stopCause } = call
  const retry = tool?.retry
  if (retry === undefined || stopCause !== undefined || attempts >= retry.attempts) return undefined
  try {
    if (retry.when !== undefined && answerAtOnce(retry.when(error, attempts)) !== true) return undefined
    const { backoffMs = 0 } = retry
    const ms = typeof backoffMs === 'function' ? answerAtOnce(backoffMs(attempts)) : backoffMs
    return typeof ms === 'number' && ms >= 0 ? Math.min(ms, maxDelay) : undefined
  } catch {
    // a `when` that throws counts as no
    return undefined
  }
}

/** The `retrying` phase: waits before the next attempt. */
export function startBackoff(call: ToolCall): void {
  call.timer.startBackoff(call.backoffMs ?? 0, () => call.tell({ type: 'retry.due' }))
}
