/** The items of an array; undefined where it is none. What cannot be read of it comes out as undefined. */
export function readList(value: unknown): unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined
    return Array.from({ length: value.length }, (_, index) => readItem(value, index))
  } catch {
    return undefined
  }
}

function readItem(list: readonly unknown[], index: number): unknown {
  try {
    return list[index]
  } catch {
    return undefined
  }
}
