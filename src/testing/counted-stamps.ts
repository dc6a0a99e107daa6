import type { Stamps } from '../messages/stamps.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** Ids that count up: the same story leaves the same ids. */
export function countedStamps(clock: SimulatedClock): Stamps {
  let count = 0
  return { uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`, now: () => clock.now() }
}
