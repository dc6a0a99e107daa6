/** The items of an array; undefined if it is not an array. An item that cannot be read becomes undefined. */
export function readList(value: unknown): unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined
    const items: unknown[] = []
    for (let index = 0; index < value.length; index++) items.push(readItem(value, index))
    return items
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
