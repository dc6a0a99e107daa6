/** The value if it is an object and not an array. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

/** The value if it is a non-empty string. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The value if it is an integer of at least 0. */
export const asIndex = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Appended to arguments with missing pieces, so that they cannot be parsed. */
export const lostPieces = ' [Pieces of these arguments were lost.]'

/** The same arguments, perhaps with other white space. */
export function isSameJson(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
