import { Fifo } from './fifo.ts'

/** A queue for readers who come when they like. Each item is handed over once. */
export class AsyncQueue<Item, End> {
  readonly #room: number
  readonly #items = new Fifo<Item>()
  readonly #readers = new Fifo<(step: IteratorResult<Item, End>) => void>()
  #whenRoom: (() => void)[] = []
  #end: { readonly value: End } | undefined
  /** Called with each item as it arrives, before a reader takes it. */
  onItem: ((item: Item) => void) | undefined

  /** A writer that is faster than the readers is asked to wait beyond `room`. */
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

  /** What it ended with, once it has, whether or not all was read. */
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

  /** Resolves when there is room for more; undefined where there is. */
  room(): Promise<void> | undefined {
    if (this.#items.length < this.#room || this.#end !== undefined) return undefined
    return new Promise((resolve) => this.#whenRoom.push(resolve))
  }

  /** Nobody reads any more: what is left is dropped, and no writer waits for room. */
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
