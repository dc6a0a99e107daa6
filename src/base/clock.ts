/** Timers and, where it has one, the time. `SimulatedClock` from xstate is one. */
export interface Clock {
  setTimeout(fn: () => void, ms: number): unknown
  clearTimeout(id: unknown): void
  now?(): number
}

export const platformClock: Clock = {
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  clearTimeout: (id) => clearTimeout(id as number),
}

/** A clock of the host that throws here leaves a timer that finds nobody; the call goes on. */
export function clearTimer(clock: Clock, timer: unknown): void {
  if (timer === undefined) return
  try {
    clock.clearTimeout(timer)
  } catch {
    // it has a result to hand over
  }
}
