/**
 * Repairs every malformed text in plain data: half a character, as left by a cut, makes a whole request invalid. Data that
 * needs no change is returned as given.
 */
export function wellFormed<Value>(value: Value): Value {
  try {
    return isWellFormed(value) ? value : (mended(value) as Value)
  } catch {
    // unreadable or nested too deeply: the sender will get the error
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
