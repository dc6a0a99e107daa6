/** The elements outside a longest increasing subsequence: the fewest that must move to sort the list. */
export function outOfOrder(places: readonly number[]): Set<number> {
  const ends: number[] = []
  const before: number[] = []
  for (const [at, place] of places.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((places[ends[middle] as number] as number) < place) low = middle + 1
      else high = middle
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] as number)
    ends[low] = at
  }
  const moved = new Set(places)
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) moved.delete(places[at] as number)
  return moved
}
