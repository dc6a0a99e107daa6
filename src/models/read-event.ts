/** An object that is not an array, or nothing. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

/** A string that holds something, or nothing. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A whole number from zero on, or nothing. */
export const asIndex = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
