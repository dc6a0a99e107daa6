/** Far deeper than any real data, and far less than what overflows the stack. */
const maxDepth = 500

/** Whether a value nests too deeply for recursive functions such as `JSON.stringify`. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return true
}
