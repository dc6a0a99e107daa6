const maxPairs = 1_000_000

/** Whether two inputs are equal, regardless of key order. Inputs are plain data; unreadable values count as different. */
export function isSameInput(one: unknown, other: unknown): boolean {
  try {
    return isSameTree(one, other)
  } catch {
    return false
  }
}

/** With an explicit list instead of recursion, because a model may nest without limit. */
function isSameTree(one: unknown, other: unknown): boolean {
  const pairs: [unknown, unknown][] = [[one, other]]
  for (let looked = 0; pairs.length > 0; looked++) {
    if (looked > maxPairs) return false
    const [left, right] = pairs.pop() as [unknown, unknown]
    if (Object.is(left, right)) continue
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
    if (!isPlain(left) || !isPlain(right)) return false
    const keys = Object.keys(left)
    if (Array.isArray(left) !== Array.isArray(right) || keys.length !== Object.keys(right).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false
      pairs.push([(left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]])
    }
  }
  return true
}

/** Dates and similar objects have no keys to compare. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}
