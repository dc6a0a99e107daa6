/** Timers and, optionally, the time. XState's `SimulatedClock` fits. */
export interface Clock {
  setTimeout(fn: () => void, ms: number): unknown
  clearTimeout(id: unknown): void
  now?(): number
}

export const platformClock: Clock = {
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  clearTimeout: (id) => clearTimeout(id as number),
}

/** If the host's clock throws, the timer stays but finds nothing to do, and the call continues. */
export function clearTimer(clock: Clock, timer: unknown): void {
  if (timer === undefined) return
  try {
    clock.clearTimeout(timer)
  } catch {
    // the call still has a result to deliver
  }
}
