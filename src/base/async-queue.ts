import { Fifo } from './fifo.ts'

/** A queue between a writer and asynchronous readers. Each item goes to one reader. */
export class AsyncQueue<Item, End> {
  readonly #room: number
  readonly #items = new Fifo<Item>()
  readonly #readers = new Fifo<(step: IteratorResult<Item, End>) => void>()
  #whenRoom: (() => void)[] = []
  #end: { readonly value: End } | undefined
  /** Called with each item as it arrives, before a reader takes it. */
  onItem: ((item: Item) => void) | undefined

  /** Backpressure: a writer should wait when more than `room` items are unread. */
  constructor(room: number) {
    this.#room = room
  }

  push(item: Item): void {
    if (this.#end !== undefined) return
    this.onItem?.(item)
    const reader = this.#readers.shift()
    if (reader !== undefined) reader({ done: false, value: item })
    else this.#items.push(item)
  }

  end(value: End): void {
    if (this.#end !== undefined) return
    this.#end = { value }
    for (let reader = this.#readers.shift(); reader; reader = this.#readers.shift()) reader({ done: true, value })
    this.#letIn()
  }

  /** The end value, available as soon as the queue has ended, even if items are still unread. */
  get ending(): End | undefined {
    return this.#end?.value
  }

  take(): Promise<IteratorResult<Item, End>> {
    if (this.#items.length > 0) {
      const value = this.#items.shift() as Item
      if (this.#items.length < this.#room) this.#letIn()
      return Promise.resolve({ done: false, value })
    }
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: this.#end.value })
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  /** Resolves when there is room for more; undefined if there is room now. */
  room(): Promise<void> | undefined {
    if (this.#items.length < this.#room || this.#end !== undefined) return undefined
    return new Promise((resolve) => this.#whenRoom.push(resolve))
  }

  /** There are no more readers: drops unread items and releases waiting writers. */
  drop(): void {
    this.#items.clear()
    this.#letIn()
  }

  #letIn(): void {
    const waiting = this.#whenRoom
    this.#whenRoom = []
    for (const resolve of waiting) resolve()
  }
}
