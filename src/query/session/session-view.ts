import type { QueryMessage } from '../query-message.ts'
import type { MessageLog } from './message-log.ts'

/** The part of a log that a view shows. Both ends become known during the session. */
export interface Span {
  from: number | undefined
  to: number | undefined
}

/** A reader of a session. Leaving it ends the view, never the run. */
export class SessionView implements AsyncIterableIterator<QueryMessage, undefined> {
  readonly #log: MessageLog
  readonly #span: Span
  #position = 0
  #isLeft = false

  constructor(log: MessageLog, span: Span) {
    this.#log = log
    this.#span = span
  }

  /** It begins with the first message: nothing was asked for, or `after` is not known. */
  get isWhole(): boolean {
    return this.#span.from === 0
  }

  async next(): Promise<IteratorResult<QueryMessage, undefined>> {
    while (!this.#isLeft) {
      const { from, to } = this.#span
      const entry = from === undefined ? undefined : this.#log.from(Math.max(from, this.#position))
      if (entry !== undefined && entry.position < (to ?? Number.POSITIVE_INFINITY)) {
        this.#position = entry.position + 1
        return { done: false, value: entry.message }
      }
      if (to !== undefined || this.#log.isClosed) break
      await this.#log.change()
    }
    this.#isLeft = true
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<QueryMessage, undefined>> {
    this.#isLeft = true
    // wakes a pending `next()`, which then ends
    this.#log.wake()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}
