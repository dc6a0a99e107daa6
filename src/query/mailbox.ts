/** A line of things for readers who come when they like. Each thing is handed over once. */
export class Mailbox<Item, End> {
  readonly #room: number
  readonly #items: Item[] = []
  readonly #waiting: ((step: IteratorResult<Item, End>) => void)[] = []
  #whenRoom: (() => void)[] = []
  #end: { readonly value: End } | undefined
  #next = 0
  /** Told of each thing as it comes, whether or not anybody reads. */
  onItem: ((item: Item) => void) | undefined

  /** Who fills it faster than it is read is asked to wait beyond `room`. */
  constructor(room: number) {
    this.#room = room
  }

  push(item: Item): void {
    if (this.#end !== undefined) return
    this.onItem?.(item)
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) waiting({ done: false, value: item })
    else this.#items.push(item)
  }

  end(value: End): void {
    if (this.#end !== undefined) return
    this.#end = { value }
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value })
    this.#letIn()
  }

  /** What it ended with, once it has, whether or not all was read. */
  get ending(): End | undefined {
    return this.#end?.value
  }

  take(): Promise<IteratorResult<Item, End>> {
    if (this.#next < this.#items.length) {
      const value = this.#items[this.#next++] as Item
      this.#tidy()
      return Promise.resolve({ done: false, value })
    }
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: this.#end.value })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when there is room for more; undefined where there is. */
  room(): Promise<void> | undefined {
    if (this.#unread < this.#room || this.#end !== undefined) return undefined
    return new Promise((resolve) => this.#whenRoom.push(resolve))
  }

  /** Nobody reads any more: what is left is nobody's, and nobody waits for room. */
  drop(): void {
    this.#items.length = 0
    this.#next = 0
    this.#letIn()
  }

  get #unread(): number {
    return this.#items.length - this.#next
  }

  /** Shifting an array for each item would be quadratic. */
  #tidy(): void {
    if (this.#next > 100 && this.#next * 2 > this.#items.length) {
      this.#items.splice(0, this.#next)
      this.#next = 0
    }
    if (this.#unread < this.#room) this.#letIn()
  }

  #letIn(): void {
    const waiting = this.#whenRoom
    this.#whenRoom = []
    for (const resolve of waiting) resolve()
  }
}
