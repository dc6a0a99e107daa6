type Context = Readonly<Record<string, unknown>>

/** What a resumed session does not have of a change: a modifier is a function, so only its effect on kept keys is recorded. */
export function lostChanges(before: Context, after: Context, contextKeys: readonly string[]): string[] {
  if (before === after) return []
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  )
  const isKept = (key: string): boolean => contextKeys.includes(key)
  const other = changed.filter((key) => !isKept(key))
  const altered = changed.filter((key) => isKept(key) && after[key] !== undefined && !isJson(after[key]))
  return [
    ...(other.length > 0
      ? [`${other.join(', ')}, which a resumed session does not have. Name such keys in contextKeys.`]
      : []),
    ...(altered.length > 0
      ? [
          `${altered.join(', ')} to a value that JSON cannot express, which a resumed session does not have. Keep plain data.`,
        ]
      : []),
  ]
}

/** Whether JSON gives the same value back. */
function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined && isPlain(value)
  } catch {
    // circular, for example
    return false
  }
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol'
  if (Array.isArray(value)) return value.every((each) => each !== undefined && isPlain(each))
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain)
}
