import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** `toEqual()` only where it would fail: for a hundred thousand equal values it takes longer than everything else. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}
