import type { HeldBodies } from './held-bodies.ts'
import type { SimulatedClock } from './simulated-clock.ts'

interface Timed {
  readonly clock: SimulatedClock
  readonly bodies: HeldBodies
  readonly graceMs: number
}

/** The time until the next timer, or until a body's grace ends, whether or not a timer is set for it. */
export function nextDue({ clock, bodies, graceMs }: Timed): number | undefined {
  const graces = [...bodies.byId.values()].flatMap(({ isRunning, isAbandoned, toldAtMs }) =>
    isRunning && !isAbandoned && toldAtMs !== undefined ? [toldAtMs + graceMs - clock.now()] : [],
  )
  const all = clock.nextDueIn === undefined ? graces : [clock.nextDueIn, ...graces]
  return all.length === 0 ? undefined : Math.min(...all)
}
