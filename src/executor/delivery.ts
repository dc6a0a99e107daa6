/// <reference lib="esnext.disposable" preserve="true" />
import { Fifo } from '../base/fifo.ts'
import type { Message } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** A message, and the context after all modifiers that were applied when the message was ready. */
export interface MessageUpdate {
  message: Message
  newContext: ToolUseContext
}

/** The source of messages for readers. */
export interface MessageSource {
  /** Removes and returns the next message that is ready. */
  take(): MessageUpdate | undefined
  /** Whether a message may be ready; `take` finds none otherwise. */
  readonly hasMessage: boolean
  /** No message is left, and no call is unfinished. */
  readonly isDrained: boolean
  /** A reader has to wait. Returns the call whose body reads, if that is known. */
  fallsAsleep(): ToolCall | undefined
  /** A reader that belongs to this body waits no longer. */
  wakesUp(inside: ToolCall): void
  /** A reader inside this call waits for the call's own result. */
  waitsForItself(inside: object): boolean
}

type Step = IteratorResult<MessageUpdate, void>

interface Waiter {
  readonly reader: RemainingResults
  readonly resolve: (step: Step) => void
  readonly inside: ToolCall | undefined
}

/** Delivers every message once. Waiting readers share one queue, whichever generator they use. */
export class Delivery {
  readonly source: MessageSource
  /** Not an `AsyncQueue`: messages stay with the source until a reader takes them, and a reader may stop waiting. */
  readonly #waiters = new Fifo<Waiter>()
  /** The number of waiting readers that belong to a body. */
  #inBodies = 0

  constructor(source: MessageSource) {
    this.source = source
  }

  next(reader: RemainingResults): Promise<Step> {
    // first come, first served
    const update = this.#waiters.length === 0 ? this.source.take() : undefined
    if (update !== undefined) return Promise.resolve({ done: false, value: update })
    if (this.source.isDrained) return Promise.resolve(reader.end())
    const inside = this.source.fallsAsleep()
    if (inside === undefined) return new Promise((resolve) => this.#waiters.push({ reader, resolve, inside }))
    return new Promise((resolve) => {
      this.#inBodies++
      const wake = (step: Step): void => {
        this.#inBodies--
        this.source.wakesUp(inside)
        resolve(step)
      }
      this.#waiters.push({ reader, resolve: wake, inside })
    })
  }

  leave(reader: RemainingResults): void {
    const left = this.#waiters.all.filter((waiter) => waiter.reader === reader)
    if (left.length === 0) return
    this.#waiters.keep((waiter) => waiter.reader !== reader)
    for (const { resolve } of left) resolve(reader.end())
  }

  /** Called when a message may have become ready. */
  wake(): void {
    while (this.#waiters.length > 0 && this.source.hasMessage) {
      // removed from the queue first: a reader that leaves while it is being served still gets its message
      const waiter = this.#waiters.shift() as Waiter
      const update = this.source.take()
      if (update === undefined) {
        this.#waiters.unshift(waiter)
        break
      }
      waiter.resolve({ done: false, value: update })
    }
    if (this.#waiters.length > 0 && this.source.isDrained) this.#endAll()
    if (this.#inBodies > 0) this.#endStuck()
  }

  #endStuck(): void {
    for (const { inside, reader } of this.#waiters.all) {
      if (inside !== undefined && this.source.waitsForItself(inside)) this.leave(reader)
    }
  }

  #endAll(): void {
    const waiters = this.#waiters.all
    this.#waiters.clear()
    for (const { reader, resolve } of waiters) resolve(reader.end())
  }
}

/**
 * The generator behind `getRemainingResults`. Not a native one, because `return()` of a sleeping native generator would
 * wait for the next message.
 */
export class RemainingResults implements AsyncGenerator<MessageUpdate, void, undefined> {
  readonly #delivery: Delivery
  #isClosed = false

  constructor(delivery: Delivery) {
    this.#delivery = delivery
  }

  next(): Promise<Step> {
    return this.#isClosed ? Promise.resolve(this.end()) : this.#delivery.next(this)
  }

  async return(): Promise<Step> {
    this.#delivery.leave(this)
    return this.end()
  }

  async throw(error: unknown): Promise<Step> {
    this.#delivery.leave(this)
    this.end()
    throw error
  }

  /** A generator that has ended stays ended, even if calls are added later. */
  end(): Step {
    this.#isClosed = true
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}
