/** The key that was probably meant: equal except for case and separators, or with at most two typos. */
export function nearestKey(given: string, keys: readonly string[]): string | undefined {
  const plain = plainOf(given)
  const same = keys.find((key) => plainOf(key) === plain)
  if (same !== undefined || given.length > 40) return same
  const limit = given.length > 4 ? 2 : 1
  const byDistance = keys
    .filter((key) => key.length <= 40)
    .map((key) => ({ key, distance: distanceOf(plain, plainOf(key)) }))
  return byDistance.sort((a, b) => a.distance - b.distance).find(({ distance }) => distance <= limit)?.key
}

const plainOf = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The number of letters to change, insert or remove. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const swapped = (row[j] as number) + (one[i] === other[j] ? 0 : 1)
      next.push(Math.min(swapped, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row[other.length] as number
}
