import { Fifo } from '../base/fifo.ts'
import type { ProgressMessage } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

interface Kept {
  readonly call: ToolCall
  readonly message: ProgressMessage
  isDropped: boolean
}

interface OfCall {
  readonly kept: Fifo<Kept>
  dropped: number
}

/**
 * Progress for the readers, in order of arrival. It does not pass through the charts: one event per line of output would
 * cost more than the tools. If nobody reads, only the newest messages of each call are kept, and the others are counted.
 */
export class ProgressBuffer {
  readonly #maxPerCall: number
  /** Created at first use: most turns have no progress. */
  #byCall: Map<ToolCall, OfCall> | undefined
  readonly #queue = new Fifo<Kept>()
  #droppedInQueue = 0

  constructor(maxPerCall: number) {
    this.#maxPerCall = maxPerCall
  }

  push(call: ToolCall, message: ProgressMessage): void {
    const entry: Kept = { call, message, isDropped: false }
    this.#byCall ??= new Map()
    const own = this.#byCall.get(call) ?? { kept: new Fifo(), dropped: 0 }
    this.#byCall.set(call, own)
    own.kept.push(entry)
    this.#queue.push(entry)
    if (own.kept.length > this.#maxPerCall) this.#dropOldest(own)
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  shift(): ProgressMessage | undefined {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (!next.isDropped) return this.#withDropped(next)
      this.#droppedInQueue--
    }
    return undefined
  }

  clear(): void {
    this.#queue.clear()
    this.#droppedInQueue = 0
    this.#byCall = undefined
  }

  #dropOldest(own: OfCall): void {
    const oldest = own.kept.shift() as Kept
    oldest.isDropped = true
    own.dropped++
    this.#droppedInQueue++
    // half of the queue is dropped messages: remove them, so that the size follows what is kept
    if (this.#droppedInQueue > 1_000 && this.#droppedInQueue * 2 > this.#queue.length) {
      this.#queue.keep(({ isDropped }) => !isDropped)
      this.#droppedInQueue = 0
    }
  }

  #withDropped({ call, message }: Kept): ProgressMessage {
    const own = this.#byCall?.get(call)
    if (own === undefined) return message
    const { dropped } = own
    own.kept.shift()
    own.dropped = 0
    if (own.kept.length === 0) this.#byCall?.delete(call)
    return dropped === 0 ? message : { ...message, dropped }
  }
}
