import { clearTimer } from '../base/clock.ts'
import type { QueryLoop } from './query-loop.ts'

/** Stops the model and tells bodies that the session is suspended. Their later results are not recorded. */
export function haltTools(loop: QueryLoop): void {
  loop.stream?.stop()
  void loop.attempt.halt().then(() => loop.tell({ type: 'tools.halted' }))
}

/** A later suspension, such as that of `close`, sets another grace period. */
export function startSuspendGrace(loop: QueryLoop, graceMs: number): void {
  const { clock } = loop.settings
  clearTimer(clock, loop.suspendGrace)
  // Infinity and delays that timers do not support mean no limit
  if (graceMs >= 2 ** 31) return
  loop.suspendGrace = clock.setTimeout(() => loop.tell({ type: 'suspend.due' }), graceMs)
}
