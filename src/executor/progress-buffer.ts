import type { ProgressMessage } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

interface Kept {
  readonly call: ToolCall
  readonly message: ProgressMessage
  isDropped: boolean
}

/**
 * Progress for the readers, in order of arrival. It does not pass through the charts: one event per line of output would
 * cost more than the tools. If nobody reads, only the newest messages of each call are kept, and the others are counted.
 */
export class ProgressBuffer {
  readonly #maxPerCall: number
  readonly #byCall = new Map<ToolCall, { kept: Kept[]; head: number; dropped: number }>()
  #queue: Kept[] = []
  #head = 0
  #droppedInQueue = 0

  constructor(maxPerCall: number) {
    this.#maxPerCall = maxPerCall
  }

  push(call: ToolCall, message: ProgressMessage): void {
    const entry: Kept = { call, message, isDropped: false }
    const own = this.#byCall.get(call) ?? { kept: [], head: 0, dropped: 0 }
    this.#byCall.set(call, own)
    own.kept.push(entry)
    this.#queue.push(entry)
    if (own.kept.length - own.head > this.#maxPerCall) this.#dropOldest(own)
  }

  shift(): ProgressMessage | undefined {
    while (this.#head < this.#queue.length) {
      const { call, message, isDropped } = this.#queue[this.#head++] as Kept
      this.#forgetRead()
      if (isDropped) {
        this.#droppedInQueue--
        continue
      }
      return this.#withDropped(call, message)
    }
    return undefined
  }

  clear(): void {
    this.#queue = []
    this.#head = 0
    this.#droppedInQueue = 0
    this.#byCall.clear()
  }

  #dropOldest(own: { kept: Kept[]; head: number; dropped: number }): void {
    const oldest = own.kept[own.head++] as Kept
    oldest.isDropped = true
    own.dropped++
    this.#droppedInQueue++
    if (own.head > this.#maxPerCall) {
      own.kept = own.kept.slice(own.head)
      own.head = 0
    }
    // half of the queue is dropped messages: remove them, so that the size follows what is kept
    if (this.#droppedInQueue > 1_000 && this.#droppedInQueue * 2 > this.#queue.length - this.#head) {
      this.#queue = this.#queue.slice(this.#head).filter((entry) => !entry.isDropped)
      this.#head = 0
      this.#droppedInQueue = 0
    }
  }

  #withDropped(call: ToolCall, message: ProgressMessage): ProgressMessage {
    const own = this.#byCall.get(call)
    if (own === undefined) return message
    const { dropped } = own
    own.head++
    own.dropped = 0
    if (own.head > this.#maxPerCall) {
      own.kept = own.kept.slice(own.head)
      own.head = 0
    }
    if (own.head >= own.kept.length) this.#byCall.delete(call)
    return dropped === 0 ? message : { ...message, dropped }
  }

  /** Releases messages that were read, so that they can be garbage-collected. */
  #forgetRead(): void {
    if (this.#head < this.#queue.length && (this.#head < 1_000 || this.#head * 2 < this.#queue.length)) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }
}
