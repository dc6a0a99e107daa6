/** Enough for a turn of usual size. */
const mostRoom = 64

/** First in, first out, at constant cost: `shift` of an array moves everything behind the first. */
export class Fifo<Item> {
  /** The items are between `#head` and `#end`. The array never shrinks, because a truncated array would be allocated again. */
  #items: (Item | undefined)[] = []
  #head = 0
  #end = 0

  get length(): number {
    return this.#end - this.#head
  }

  push(item: Item): void {
    this.#items[this.#end++] = item
  }

  shift(): Item | undefined {
    if (this.#head === this.#end) return undefined
    const item = this.#items[this.#head]
    // release the item: the array lives on
    this.#items[this.#head++] = undefined
    if (this.#head === this.#end) this.#restart()
    else if (this.#head > 1_000 && this.#head * 2 > this.#end) this.keep(() => true)
    return item
  }

  /** Back to the front. */
  unshift(item: Item): void {
    if (this.#head === 0) {
      this.#items.unshift(item)
      this.#end++
    } else this.#items[--this.#head] = item
  }

  /** A copy. */
  get all(): Item[] {
    return this.#items.slice(this.#head, this.#end) as Item[]
  }

  /** Removes all items for which `isKept` says no. */
  keep(isKept: (item: Item) => boolean): void {
    this.#items = this.all.filter(isKept)
    this.#head = 0
    this.#end = this.#items.length
  }

  clear(): void {
    this.#items.fill(undefined, this.#head, this.#end)
    this.#restart()
  }

  #restart(): void {
    if (this.#items.length > mostRoom) this.#items = []
    this.#head = this.#end = 0
  }
}
