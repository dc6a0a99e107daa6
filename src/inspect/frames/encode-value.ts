/**
 * Any value as plain JSON. A value that JSON cannot express becomes an object whose key `$` names its kind. A plain
 * object that already has the key `$` is wrapped too, so that it cannot be mistaken for one of these.
 */
export type Encoded = null | boolean | number | string | readonly Encoded[] | { readonly [key: string]: Encoded }

export interface EncodeLimits {
  /** @default 8 */
  readonly depth?: number
  /** The total number of values. @default 400 */
  readonly nodes?: number
  /** @default 2_000 */
  readonly text?: number
  /** Of one text in a result, in characters. @default 200_000, or `text` if that is given */
  readonly resultText?: number
}

/** Returns a reference for an object that is shown elsewhere; undefined to encode the object itself. */
export type Stand = (value: object) => Encoded | undefined

/** What is shown in the place of values inside a value. */
export interface Disguise {
  readonly stand?: Stand | undefined
  /** Returns the object whose contents are encoded: the same one, or a copy without what must not be shown. */
  readonly instead?: ((value: object) => object) | undefined
  /** Applied to every text, before it is truncated. */
  readonly clean?: ((text: string) => string) | undefined
}

/** Never throws, and never does more work than its limits allow. */
export function encodeValue(value: unknown, limits: EncodeLimits = {}, disguise: Disguise = {}): Encoded {
  return new Encoder(limits, disguise).encode(value, 0)
}

/** A text that `clean` finds may begin before the limit and end after it. */
const beyondLimit = 1_000

const tag = (kind: string, rest: Record<string, Encoded> = {}): Encoded => ({ $: kind, ...rest })

class Encoder {
  readonly #depth: number
  readonly #text: number
  readonly #disguise: Disguise
  readonly #above = new Set<object>()
  #nodes: number

  constructor({ depth = 8, nodes = 400, text = 2_000 }: EncodeLimits, disguise: Disguise) {
    this.#depth = depth
    this.#nodes = nodes
    this.#text = text
    this.#disguise = disguise
  }

  encode(value: unknown, depth: number): Encoded {
    this.#nodes--
    switch (typeof value) {
      case 'string':
        return this.#string(value)
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : tag('number', { text: String(value) })
      case 'boolean':
        return value
      case 'undefined':
        return tag('undefined')
      case 'bigint':
        return tag('bigint', { text: this.#string(value.toString()) })
      case 'symbol':
        return tag('symbol', { text: this.#string(value.toString()) })
      case 'function':
        return tag('function', { name: this.#string(String(read(value, 'name') ?? '')) })
      default:
        return value === null ? null : this.#object(value as object, depth)
    }
  }

  #string(given: string): Encoded {
    const { clean } = this.#disguise
    const text = clean === undefined ? given : clean(given.slice(0, this.#text + beyondLimit))
    const isWhole = text.length <= this.#text && given.length <= this.#text + beyondLimit
    return isWhole ? text : tag('text', { text: text.slice(0, this.#text), length: given.length })
  }

  #object(object: object, depth: number): Encoded {
    if (this.#above.has(object)) return tag('cycle')
    this.#above.add(object)
    try {
      const { stand, instead } = this.#disguise
      const reference = stand?.(object)
      if (reference !== undefined) return reference
      if (depth >= this.#depth || this.#nodes <= 0) return tag('deeper')
      return this.#contents(instead?.(object) ?? object, depth + 1)
    } catch {
      return tag('unreadable')
    } finally {
      this.#above.delete(object)
    }
  }

  #contents(object: object, depth: number): Encoded {
    if (Array.isArray(object)) return this.#list(object, object.length, depth)
    if (object instanceof Error) return this.#error(object, depth)
    if (object instanceof Map) return tag('map', { entries: this.#list(object.entries(), object.size, depth) })
    if (object instanceof Set) return tag('set', { items: this.#list(object.values(), object.size, depth) })
    if (object instanceof Date) return tag('date', { text: String(object.getTime()) })
    if (object instanceof RegExp) return tag('regexp', { text: this.#string(String(object)) })
    if (object instanceof Promise) return tag('promise')
    if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) {
      return tag('bytes', { name: nameOf(object), length: object.byteLength })
    }
    if (isSignal(object)) return this.#signal(object, depth)
    if (isController(object)) return this.#signal(object.signal, depth)
    const prototype = Object.getPrototypeOf(object)
    const fields = this.#fields(object, Object.keys(object), depth)
    if (prototype === Object.prototype || prototype === null) return fields
    return tag('instance', { name: nameOf(object), fields })
  }

  #list(items: Iterable<unknown>, length: number, depth: number): Encoded {
    const list: Encoded[] = []
    for (const item of items) {
      if (this.#nodes <= 0) return tag('list', { items: list, length })
      list.push(this.encode(item, depth))
    }
    return list
  }

  #error(error: Error, depth: number): Encoded {
    const own = Object.keys(error).filter((key) => key !== 'name' && key !== 'message' && key !== 'cause')
    const cause = read(error, 'cause')
    return tag('error', {
      name: this.#string(String(read(error, 'name') ?? 'Error')),
      message: this.#string(String(read(error, 'message') ?? '')),
      ...(cause !== undefined && { cause: this.encode(cause, depth) }),
      ...(own.length > 0 && { fields: this.#fields(error, own, depth) }),
    })
  }

  #signal(signal: AbortSignal, depth: number): Encoded {
    const isAborted = signal.aborted === true
    return tag('signal', { aborted: isAborted, ...(isAborted && { reason: this.encode(signal.reason, depth) }) })
  }

  #fields(object: object, keys: readonly string[], depth: number): Encoded {
    const fields: Record<string, Encoded> = {}
    const odd: Encoded[] = []
    let left = keys.length
    for (const key of keys) {
      if (this.#nodes <= 0) break
      left--
      const value = this.#field(object, key, depth)
      if (key === '$' || key === '__proto__') odd.push([key, value])
      else fields[key.length <= 200 ? key : `${key.slice(0, 200)}…`] = value
    }
    if (odd.length === 0 && left === 0) return fields
    return tag('object', { fields, ...(odd.length > 0 && { odd }), ...(left > 0 && { left }) })
  }

  #field(object: object, key: string, depth: number): Encoded {
    try {
      return this.encode((object as Record<string, unknown>)[key], depth)
    } catch {
      return tag('unreadable')
    }
  }
}

function read(value: unknown, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function nameOf(object: object): string {
  const name = read(read(object, 'constructor'), 'name')
  return typeof name === 'string' ? name.slice(0, 100) : ''
}

const isSignal = (object: object): object is AbortSignal => object instanceof AbortSignal

const isController = (object: object): object is AbortController => object instanceof AbortController
