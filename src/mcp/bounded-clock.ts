import type { Clock } from '../pipeline/clock.ts'

/** Some 25 days: whoever asks a platform for more is woken at once. */
const longest = 2 ** 31 - 1

/** The same clock, for limits of any length, such as `Infinity`. */
export const boundedClock = (clock: Clock): Clock => ({
  setTimeout: (fn, ms) => clock.setTimeout(fn, Math.min(ms, longest)),
  clearTimeout: (id) => clock.clearTimeout(id),
  now: () => clock.now?.() ?? Date.now(),
})
