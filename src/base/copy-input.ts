const maxDepth = 200

export type CopiedInput =
  | { readonly ok: true; readonly copy: unknown }
  | { readonly ok: false; readonly because: 'tooLarge' | 'tooDeep' }

/**
 * Copies a model's input, so that a tool that changes its input changes no other copy. Stops as soon as the input is too
 * large: the cost is bounded by the limit, not by the input.
 */
export function copyInput(input: unknown, maxChars: number): CopiedInput {
  const walk = new Walk(maxChars)
  const copy = walk.copy(input, 0)
  return walk.because === undefined ? { ok: true, copy } : { ok: false, because: walk.because }
}

class Walk {
  because: 'tooLarge' | 'tooDeep' | undefined
  #charsLeft: number

  constructor(maxChars: number) {
    this.#charsLeft = maxChars
  }

  copy(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) {
      this.#spend(typeof value === 'string' ? value.length + 2 : 4)
      return value
    }
    if (depth > maxDepth) this.because ??= 'tooDeep'
    this.#spend(2)
    if (this.because !== undefined) return undefined
    if (Array.isArray(value)) return this.#list(value, depth + 1)
    const prototype = Object.getPrototypeOf(value)
    // an object of the host, not of a model
    return prototype === Object.prototype || prototype === null ? this.#fields(value, depth + 1) : value
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copies: unknown[] = []
    for (const item of list) {
      if (this.because !== undefined) break
      copies.push(this.copy(item, depth))
    }
    return copies
  }

  #fields(fields: object, depth: number): Record<string, unknown> {
    const copies: Record<string, unknown> = {}
    for (const key of Object.keys(fields)) {
      if (this.because !== undefined) break
      this.#spend(key.length + 3)
      const copy = this.copy((fields as Record<string, unknown>)[key], depth)
      if (key === '__proto__')
        Object.defineProperty(copies, key, { value: copy, enumerable: true, writable: true, configurable: true })
      else copies[key] = copy
    }
    return copies
  }

  #spend(chars: number): void {
    this.#charsLeft -= chars
    if (this.#charsLeft < 0) this.because ??= 'tooLarge'
  }
}
