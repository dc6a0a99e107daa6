const maxDepth = 60

/**
 * Any value as JSON text, or as close to it as possible: also cycles, getters that throw, buffers, functions and proxies.
 * Stops at the limit, so that the cost is bounded, and never throws.
 */
export function describeValue(value: unknown, maxChars: number): string {
  if (value === undefined) return 'undefined'
  const writer = new Writer(maxChars)
  writer.value(value, 0)
  return writer.text
}

class Writer {
  text = ''
  readonly #maxChars: number
  readonly #above = new Set<object>()

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  value(value: unknown, depth: number): void {
    switch (typeof value) {
      case 'string':
        return this.#string(value)
      case 'number':
        return this.#raw(Number.isFinite(value) ? String(value) : `"${value}"`)
      case 'boolean':
      case 'bigint':
        return this.#raw(String(value))
      case 'undefined':
        return this.#raw('null')
      case 'symbol':
        return this.#string(value.toString())
      case 'function':
        return this.#string('[Function]')
      default:
        return value === null ? this.#raw('null') : this.#object(value as object, depth)
    }
  }

  get #isFull(): boolean {
    return this.text.length > this.#maxChars
  }

  #raw(text: string): void {
    if (!this.#isFull) this.text += text
  }

  #string(text: string): void {
    this.#raw(JSON.stringify(text.length > this.#maxChars ? text.slice(0, this.#maxChars) : text))
  }

  #object(object: object, depth: number): void {
    if (this.#above.has(object)) return this.#string('[Circular]')
    if (depth >= maxDepth) return this.#string('[Nested too deep]')
    this.#above.add(object)
    const before = this.text.length
    try {
      this.#contents(object, depth + 1)
    } catch {
      // a proxy, a getter or a toJSON threw: remove the incomplete text of this object
      this.text = this.text.slice(0, before)
      this.#string('[Unreadable]')
    }
    this.#above.delete(object)
  }

  #contents(object: object, depth: number): void {
    if (Array.isArray(object)) return this.#list(object, depth)
    if (object instanceof Set) return this.#list(object, depth)
    if (object instanceof Map) return this.#list(object.entries(), depth)
    if (object instanceof Error) return this.#error(object, depth)
    if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) {
      return this.#string(`[${object.constructor.name} of ${object.byteLength} bytes]`)
    }
    const { toJSON } = object as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.value(toJSON.call(object), depth)
    this.#fields(object, Object.keys(object), depth)
  }

  #list(items: Iterable<unknown>, depth: number): void {
    this.#raw('[')
    let isFirst = true
    for (const item of items) {
      if (this.#isFull) break
      if (!isFirst) this.#raw(',')
      isFirst = false
      this.value(item, depth)
    }
    this.#raw(']')
  }

  #error(error: Error, depth: number): void {
    this.#fields(error, [...new Set(['name', 'message', 'cause', ...Object.keys(error)])], depth)
  }

  #fields(object: object, keys: readonly string[], depth: number): void {
    this.#raw('{')
    let isFirst = true
    for (const key of keys) {
      if (this.#isFull) break
      const value = readOr(object, key, '[Unreadable]')
      if (value === undefined) continue
      if (!isFirst) this.#raw(',')
      isFirst = false
      this.#string(key)
      this.#raw(':')
      this.value(value, depth)
    }
    this.#raw('}')
  }
}

function readOr(object: object, key: string, fallback: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]
  } catch {
    return fallback
  }
}
