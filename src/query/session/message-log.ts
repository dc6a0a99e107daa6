import type { ContentBlock, Message, UserMessage } from '../../messages/message.ts'
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
  /** Results of earlier processes that were shown before the end of their reply: by uuid, the position behind their calls. */
  readonly #early = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  /** The position of the next message. */
  get end(): number {
    return this.#end
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  push(message: QueryMessage): void {
    this.#early.delete(message.uuid)
    this.#entries.push({ position: this.#end++, message })
    this.wake()
  }

  /** A conversation that was shown elsewhere. It has results behind their reply, although they were shown while it went on. */
  pushShown(messages: readonly Message[]): void {
    const calls = new Map<string, number>()
    let [lastReply, early] = [0, 0]
    for (const message of messages) {
      const { uuid, type } = message
      for (const block of blocksOf(message)) {
        if (block.type === 'tool_use') calls.set(String(block.id), this.#end + 1)
        if (block.type === 'tool_result') early = calls.get(String(block.tool_use_id)) ?? 0
      }
      if (type === 'assistant') [lastReply, early] = [this.#end, 0]
      else if (type === 'user' && !isOfCall(message)) early = 0
      this.push(message)
      if (early > 0 && early <= lastReply) this.#early.set(uuid, early)
    }
  }

  /** The first message at or behind a position. */
  from(position: number): Entry | undefined {
    return this.#entries[this.#indexOf(position)]
  }

  /** The position behind a message. For an unknown uuid: the beginning, since repeating is safer than omitting. */
  after(uuid: string): number {
    const found = this.#entries.findLast(({ message }) => message.uuid === uuid)
    const position = found?.position ?? this.#dropped.get(uuid)
    return this.#early.get(uuid) ?? (position === undefined ? 0 : position + 1)
  }

  /** Messages that are not here, for readers that come back with one of them: each by uuid, with one before it that is. */
  remember(reported: ReadonlyMap<string, string>): void {
    if (reported.size === 0) return
    const positions = new Map(this.#entries.map(({ message, position }) => [message.uuid, position]))
    for (const [uuid, before] of reported) {
      const position = positions.get(before)
      if (position !== undefined) this.#dropped.set(uuid, (this.#early.get(before) ?? position + 1) - 1)
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

function blocksOf(shown: Message): readonly ContentBlock[] {
  if (shown.type !== 'assistant' && shown.type !== 'user') return []
  const { content } = shown.message
  return typeof content === 'string' ? [] : (content as readonly ContentBlock[])
}

/** A result, or what a call has left beside it. */
const isOfCall = (message: UserMessage): boolean =>
  'sourceToolAssistantUUID' in message || blocksOf(message).some(({ type }) => type === 'tool_result')
