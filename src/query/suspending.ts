import type { QueryLoop } from './query-loop.ts'

/** Stops the model and tells bodies that the session is suspended. Their later results are not recorded. */
export function haltTools(loop: QueryLoop): void {
  loop.stream?.stop()
  void loop.attempt.halt().then(() => loop.tell({ type: 'tools.halted' }))
}

export function startSuspendGrace(loop: QueryLoop, graceMs: number): void {
  const { clock } = loop.settings
  loop.suspendGrace ??= clock.setTimeout(() => loop.tell({ type: 'suspend.due' }), graceMs)
}
