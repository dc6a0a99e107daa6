import { constants } from 'node:os'

/** The signal that a shell means by an exit code of 128 and more. */
export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
}
