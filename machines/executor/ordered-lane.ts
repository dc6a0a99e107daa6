interface Numbered {
  readonly index: number
}

/** Maximum number of removed entries at the head of a lane before it is compacted. */
const mostLeft = 64

/**
 * Entries in emission order. An entry that no longer waits is dropped when it reaches the front. Not the `Fifo` of
 * `src/base`: the charts import nothing from there, and a call that returns to the queue is inserted in the middle.
 */
export class OrderedLane<Entry extends Numbered> {
  readonly #stillWaits: (entry: Entry) => boolean
  #entries: Entry[] = []
  #head = 0

  constructor(stillWaits: (entry: Entry) => boolean) {
    this.#stillWaits = stillWaits
  }

  get first(): Entry | undefined {
    while (this.#head < this.#entries.length) {
      const entry = this.#entries[this.#head] as Entry
      if (this.#stillWaits(entry)) {
        this.#compact()
        return entry
      }
      this.#head++
    }
    // not each time: refilling an emptied list allocates again
    if (this.#head > mostLeft) {
      this.#entries = []
      this.#head = 0
    }
    return undefined
  }

  /** A lane that is never empty must not keep everything that was ever in it. */
  #compact(): void {
    if (this.#head <= mostLeft || this.#head * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#head)
    this.#head = 0
  }

  removeFirst(): void {
    this.#head++
  }

  /** The nearest entry before this index that still waits. */
  lastBefore(index: number): Entry | undefined {
    // drops the entries at the front, so that the search does not walk over them again and again
    if (this.first === undefined) return undefined
    for (let at = this.#placeOf(index) - 1; at >= this.#head; at--) {
      const entry = this.#entries[at] as Entry
      if (this.#stillWaits(entry)) return entry
    }
    return undefined
  }

  insert(entry: Entry): void {
    const last = this.#entries.at(-1)
    if (last === undefined || last.index < entry.index) this.#entries.push(entry)
    else this.#entries.splice(this.#placeOf(entry.index), 0, entry)
  }

  #placeOf(index: number): number {
    let low = this.#head
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle] as Entry).index < index) low = middle + 1
      else high = middle
    }
    return low
  }
}
