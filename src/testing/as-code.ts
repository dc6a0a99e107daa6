/** Whether a value can be written as source code: no functions, symbols or class instances. */
export function isWritable(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every(isWritable)
}

/** A value as source code. */
export function asCode(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(asCode).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined)
    if (fields.length === 0) return '{}'
    return `{ ${fields.map(([key, each]) => `${keyOf(key)}: ${asCode(each)}`).join(', ')} }`
  }
  return Object.is(value, -0) ? '-0' : String(value)
}

// a plain __proto__ would set the prototype
const keyOf = (key: string): string =>
  key === '__proto__' ? "['__proto__']" : /^[a-z_$][\w$]*$/i.test(key) ? key : quoted(key)

const quoted = (text: string): string => {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inside.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}
