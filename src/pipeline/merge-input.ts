import { isSameInput } from '../base/same-input.ts'

type Input = Record<string, unknown>

/**
 * Applies one more hook's changes. All hooks saw the same `original`, so only this hook's differences from it count:
 * changes of earlier hooks to other keys stay. If two hooks change the same key, the later one wins.
 */
export function mergeInput(current: Input, original: Input, updated: Input): Input {
  const merged = new Map(Object.entries(current))
  for (const key of Object.keys(original)) if (!Object.hasOwn(updated, key)) merged.delete(key)
  for (const [key, value] of Object.entries(updated)) {
    if (!Object.hasOwn(original, key) || !isSameInput(original[key], value)) merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
