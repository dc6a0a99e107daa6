import type { HeldBodies } from './held-bodies.ts'
import type { SimulatedClock } from './simulated-clock.ts'

interface Timed {
  readonly clock: SimulatedClock
  readonly bodies: HeldBodies
  readonly graceMs: number
}

/** Until the next timer, or until the grace of a body is over, whether or not anybody has set a timer for it. */
export function nextDue({ clock, bodies, graceMs }: Timed): number | undefined {
  const graces = [...bodies.byId.values()].flatMap(({ isRunning, isAbandoned, toldAtMs }) =>
    isRunning && !isAbandoned && toldAtMs !== undefined ? [toldAtMs + graceMs - clock.now()] : [],
  )
  const all = clock.nextDueIn === undefined ? graces : [clock.nextDueIn, ...graces]
  return all.length === 0 ? undefined : Math.min(...all)
}
