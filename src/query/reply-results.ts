import type { MessageUpdate } from '../executor/delivery.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { Message } from '../messages/message.ts'

export interface ResultsHost {
  /** Shows a message. A returned promise pauses the reading. */
  onUpdate(update: MessageUpdate): Promise<void> | undefined
  /** The reply is over, and all its calls are answered. */
  onDrained(): void
}

/** Reads the results of a reply's calls as they become ready, during the stream and after it. */
export class ReplyResults {
  readonly received: Message[] = []
  isHookStopped = false
  readonly #executor: StreamingToolExecutor
  readonly #host: ResultsHost
  /** `again`: a call was added while the reader was active, and the reader may not have seen it. */
  #reader: 'none' | 'active' | 'again' = 'none'
  #state: 'open' | 'draining' | 'discarded' = 'open'

  constructor(executor: StreamingToolExecutor, host: ResultsHost) {
    this.#executor = executor
    this.#host = host
  }

  /** After each call that is added. */
  async read(): Promise<void> {
    if (this.#reader !== 'none') {
      this.#reader = 'again'
      return
    }
    do {
      this.#reader = 'active'
      for await (const update of this.#executor.getRemainingResults()) {
        if (this.#state === 'discarded') return
        this.#keep(update.message)
        // even an await without a reason takes a tick
        const pause = this.#host.onUpdate(update)
        if (pause !== undefined) await pause
      }
    } while (this.#isWantedAgain)
    this.#reader = 'none'
    this.#checkDrained()
  }

  /** No more calls come: reports when the last result is there. */
  drain(): void {
    if (this.#state === 'open') this.#state = 'draining'
    this.#checkDrained()
  }

  discard(): void {
    this.#state = 'discarded'
  }

  /** A getter, because the compiler believes that a field does not change during an `await`. */
  get #isWantedAgain(): boolean {
    return this.#reader === 'again'
  }

  #keep(message: Message): void {
    if (message.type === 'attachment' && message.attachment.type === 'hook_stopped_continuation') {
      this.isHookStopped = true
    }
    if (message.type !== 'progress' && message.type !== 'system') this.received.push(message)
  }

  #checkDrained(): void {
    if (this.#state !== 'draining' || this.#reader !== 'none') return
    this.#state = 'open'
    this.#host.onDrained()
  }
}
