import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** Deterministic ids: the same story produces the same ids. */
export function countedIdsAndTime(clock: SimulatedClock): IdsAndTime {
  let count = 0
  return { uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`, now: () => clock.now() }
}
