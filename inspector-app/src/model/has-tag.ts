import type { Encoded } from '../../../src/inspect/index.ts'

/** Part of the value is truncated, redacted, or not expressible as JSON. */
export function hasTag(value: Encoded): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasTag)
  const record = value as { readonly [key: string]: Encoded }
  return record.$ !== undefined || Object.values(record).some(hasTag)
}
