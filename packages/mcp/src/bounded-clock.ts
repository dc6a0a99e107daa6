import type { Clock } from 'signalbox'

/** About 25 days: platform timers fire at once for longer delays. */
const longest = 2 ** 31 - 1

/** The same clock, for delays of any length, also `Infinity`. */
export const boundedClock = (clock: Clock): Clock => ({
  setTimeout: (fn, ms) => clock.setTimeout(fn, Math.min(ms, longest)),
  clearTimeout: (id) => clock.clearTimeout(id),
  now: () => clock.now?.() ?? Date.now(),
})

/** If the host's clock throws here, the timer fires without effect and the connection continues. */
export function clearTimer(clock: Clock, timer: unknown): void {
  if (timer === undefined) return
  try {
    clock.clearTimeout(timer)
  } catch {
    // nothing depends on it
  }
}
