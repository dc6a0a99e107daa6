import { constants } from 'node:os'

/** The signal that a shell reports as an exit code above 128. */
export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
}
