/** A walk through more values than this would cost more than the count is worth. */
const maxValues = 20_000

/** About how many characters some data holds: those of its texts, two bytes of binary data each, and eight for the rest. */
export function charsOf(data: unknown): number {
  if (typeof data === 'string') return data.length
  const seen = new Set<unknown>()
  const open: unknown[] = [data]
  let chars = 0
  for (let values = 0; open.length > 0 && values < maxValues; values++) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) chars += typeof value === 'string' ? value.length : 8
    else if (!seen.has(value)) {
      seen.add(value)
      if (ArrayBuffer.isView(value)) chars += value.byteLength / 2
      else open.push(...partsOf(value))
    }
  }
  return Math.ceil(chars)
}

/** Data that throws when it is read has no parts. */
function partsOf(value: object): unknown[] {
  try {
    if (value instanceof ArrayBuffer) return [new Uint8Array(value)]
    if (value instanceof Map) return [...value.keys(), ...value.values()].slice(0, maxValues)
    if (value instanceof Set || Array.isArray(value)) return [...value].slice(0, maxValues)
    return Object.entries(value).slice(0, maxValues).flat()
  } catch {
    return []
  }
}

/** The same text with memory of its own. A piece of a text refers to the whole text, and a sum of texts to its parts. */
export const detached = (text: string): string => ` ${text}`.slice(1)
