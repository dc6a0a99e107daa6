type Range = [first: number, last: number]

/** Call indices as ranges: a queue of thousands is mostly one range. */
export class WaitingRanges {
  #ranges: Range[] = []

  get ranges(): readonly (readonly [first: number, last: number])[] {
    return this.#ranges
  }

  clear(): void {
    this.#ranges = []
  }

  add(place: number): void {
    const at = this.#firstEndingFrom(place - 1)
    const found = this.#ranges[at]
    if (found === undefined || found[0] > place + 1) this.#ranges.splice(at, 0, [place, place])
    else if (found[0] === place + 1) found[0] = place
    else if (found[1] === place - 1) this.#extend(at, found, place)
  }

  delete(place: number): void {
    const at = this.#firstEndingFrom(place)
    const found = this.#ranges[at]
    if (found === undefined || found[0] > place) return
    const [first, last] = found
    const rest: Range[] = [
      [first, place - 1],
      [place + 1, last],
    ]
    this.#ranges.splice(at, 1, ...rest.filter(([from, to]) => from <= to))
  }

  #extend(at: number, range: Range, place: number): void {
    const next = this.#ranges[at + 1]
    range[1] = next?.[0] === place + 1 ? next[1] : place
    if (next?.[0] === place + 1) this.#ranges.splice(at + 1, 1)
  }

  /** The first range that ends at this index or later. */
  #firstEndingFrom(place: number): number {
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ranges[middle] as Range)[1] < place) low = middle + 1
      else high = middle
    }
    return low
  }
}
