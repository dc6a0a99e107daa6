import type { QueryMessage } from '../query-message.ts'

interface Entry {
  readonly position: number
  readonly message: QueryMessage
}

/** How many uuids of dropped messages are remembered, for readers that come back with one of them. */
const mostDropped = 10_000

/**
 * Everything a session has said, for any number of readers at their own pace. Not a queue: reading removes nothing.
 */
export class MessageLog {
  #entries: Entry[] = []
  #end = 0
  #isClosed = false
  readonly #dropped = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  /** The position of the next message. */
  get end(): number {
    return this.#end
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  push(message: QueryMessage): void {
    this.#entries.push({ position: this.#end++, message })
    this.wake()
  }

  /** The first message at or behind a position. */
  from(position: number): Entry | undefined {
    return this.#entries[this.#indexOf(position)]
  }

  /** The position behind a message. For an unknown uuid: the beginning, since repeating is safer than omitting. */
  after(uuid: string): number {
    const found = this.#entries.findLast(({ message }) => message.uuid === uuid)
    const position = found?.position ?? this.#dropped.get(uuid)
    return position === undefined ? 0 : position + 1
  }

  /** Messages that are not here, for readers that come back with one of them: each by uuid, with one before it that is. */
  remember(reported: ReadonlyMap<string, string>): void {
    if (reported.size === 0) return
    const positions = new Map(this.#entries.map(({ message, position }) => [message.uuid, position]))
    for (const [uuid, before] of reported) {
      const position = positions.get(before)
      if (position !== undefined) this.#dropped.set(uuid, position)
    }
  }

  /** Drops what only matters while a run is active. */
  drop(isDropped: (message: QueryMessage) => boolean): void {
    this.#entries = this.#entries.filter(({ message, position }) => {
      if (!isDropped(message)) return true
      this.#dropped.set(message.uuid, position)
      return false
    })
    for (const uuid of this.#dropped.keys()) {
      if (this.#dropped.size <= mostDropped) break
      this.#dropped.delete(uuid)
    }
  }

  /** Resolves at the next message or ending. */
  async change(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  close(): void {
    this.#isClosed = true
    this.wake()
  }

  #indexOf(position: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle] as Entry).position < position) low = middle + 1
      else high = middle
    }
    return low
  }
}
