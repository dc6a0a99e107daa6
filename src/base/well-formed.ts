/**
 * Plain data with every text in it well formed: half a character, such as a cut leaves, makes a whole request invalid.
 * Data that needs no change, which is nearly all, is the very value that was given.
 */
export function wellFormed<Value>(value: Value): Value {
  try {
    return isWellFormed(value) ? value : (mended(value) as Value)
  } catch {
    // a stranger that cannot be read, or too deep to be: whoever sends it will find out
    return value
  }
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isWellFormed)
  if (!isPlain(value)) return true
  return Object.keys(value).every((key) => key.isWellFormed() && isWellFormed(value[key]))
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(mended)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key.toWellFormed(), mended(field)]))
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
