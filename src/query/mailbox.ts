/** A queue for readers that come at any time. Each item is delivered once. */
export class Mailbox<Item, End> {
  readonly #room: number
  readonly #items: Item[] = []
  readonly #waiting: ((step: IteratorResult<Item, End>) => void)[] = []
  #whenRoom: (() => void)[] = []
  #end: { readonly value: End } | undefined
  #next = 0

  /** With more than `room` items, the producer is asked to wait. */
  constructor(room: number) {
    this.#room = room
  }

  push(item: Item): void {
    if (this.#end !== undefined) return
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

  /** The value it ended with, even if not everything was read. */
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

  /** Resolves when there is room for more; undefined if there is room already. */
  room(): Promise<void> | undefined {
    if (this.#unread < this.#room || this.#end !== undefined) return undefined
    return new Promise((resolve) => this.#whenRoom.push(resolve))
  }

  /** There is no reader any more: drops the items and releases the producer. */
  drop(): void {
    this.#items.length = 0
    this.#next = 0
    this.#letIn()
  }

  get #unread(): number {
    return this.#items.length - this.#next
  }

  /** Compacts rarely, because shifting the array for each item would be quadratic. */
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
