/** Whether two inputs say the same, key order aside. Inputs are trees of plain data; what is not, differs. */
export function isSameInput(one: unknown, other: unknown, depth = 0): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (depth > 200 || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      isSameInput((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], depth + 1),
  )
}
