import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** Pseudo-random numbers from 0 to 1, determined by the seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A hash of the text, chained with the previous hash. */
export function digestOf(text: string, before = 0x811c9dc5): number {
  let digest = before
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193) >>> 0
  return digest
}

/** Deterministic ids: the same story produces the same ids. */
export function countedIdsAndTime(clock: SimulatedClock): IdsAndTime {
  let count = 0
  return { uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`, now: () => clock.now() }
}

/** An error without stack frames, which differ between machines: the same story must produce the same text. */
export function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}`
  return error
}
