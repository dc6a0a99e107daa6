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
