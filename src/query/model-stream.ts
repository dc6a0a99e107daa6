import { type Clock, clearTimer } from '../base/clock.ts'
import type { Model, ModelRequest } from '../models/model.ts'

export interface StreamHandlers {
  /** May return a promise to pause the stream. */
  event(event: unknown): Promise<void> | undefined
  ended(): void
  failed(error: unknown): void
}

/**
 * Reads one reply of a model to its end. Stopping never waits for a stream that ignores its signal, and a stream that is
 * silent for too long counts as failed.
 */
export class ModelStream {
  readonly #handlers: StreamHandlers
  readonly #clock: Clock
  #idleMs: number
  readonly #controller = new AbortController()
  #iterator: AsyncIterator<unknown> | undefined
  readonly #now: () => number
  #timer: unknown
  #isWaiting = false
  #waitsSince = 0
  /** An event arrived since the timer was set. */
  #isHeard = false
  #isOver = false

  constructor(clock: Clock, now: () => number, idleMs: number, handlers: StreamHandlers) {
    this.#clock = clock
    this.#now = now
    this.#idleMs = idleMs
    this.#handlers = handlers
  }

  get isOver(): boolean {
    return this.#isOver
  }

  start(model: Model, request: Omit<ModelRequest, 'signal'>): void {
    // not a spread: a spread that adds a key is ten times slower
    const own = Object.assign({}, request, { signal: this.#controller.signal })
    this.#read(model, own).catch((error) => this.#fail(error))
  }

  /** The stop reason has arrived: the rest must follow within this time. */
  expectEnd(ms: number): void {
    if (this.#isOver || ms >= this.#idleMs) return
    this.#idleMs = ms
    clearTimer(this.#clock, this.#timer)
    this.#timer = undefined
  }

  /** Ignores all further events. */
  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimer(this.#clock, this.#timer)
    this.#controller.abort()
    this.#leave()
  }

  async #read(model: Model, request: ModelRequest): Promise<void> {
    this.#expect()
    const events: unknown = await model(request)
    this.#iterator = iteratorOf(events)
    // it was stopped before it began
    if (this.#isOver) return this.#leave()
    for (;;) {
      this.#expect()
      const step = await this.#iterator.next()
      this.#isWaiting = false
      if (this.#isOver) return
      if (step.done === true) break
      const pause = this.#handlers.event(step.value)
      if (pause !== undefined) await pause
      if (this.#isOver) return
    }
    this.#isOver = true
    clearTimer(this.#clock, this.#timer)
    this.#handlers.ended()
  }

  /** Starts the idle timeout; the reader's own time does not count. */
  #expect(): void {
    // Infinity and delays that timers do not support mean no limit
    if (this.#isOver || this.#idleMs >= 2 ** 31) return
    this.#isWaiting = true
    this.#waitsSince = this.#now()
    if (this.#timer === undefined) this.#lookIn(this.#idleMs)
    else this.#isHeard = true
  }

  /** One timer that checks the elapsed time: a new timer for every event would cost more than the event. */
  #lookIn(ms: number): void {
    this.#isHeard = false
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      if (!this.#isWaiting) return
      const left = this.#idleMs - (this.#now() - this.#waitsSince)
      // a host's clock may have timers but no time
      if (left <= 0 || !this.#isHeard) this.#stalled()
      else this.#lookIn(Math.min(left, this.#idleMs))
    }, ms)
  }

  #stalled(): void {
    const error = new Error(`The model was silent for more than ${this.#idleMs} ms.`)
    this.#fail(Object.assign(error, { name: 'TimeoutError', code: 'ETIMEDOUT' }))
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.stop()
    this.#handlers.failed(error)
  }

  /** An error of a stream that is being closed does not matter. */
  #leave(): void {
    const iterator = this.#iterator
    this.#iterator = undefined
    try {
      Promise.resolve(iterator?.return?.()).catch(() => undefined)
    } catch {
      // see above
    }
  }
}

function iteratorOf(events: unknown): AsyncIterator<unknown> {
  const open = (events as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator]
  if (typeof open !== 'function') throw new TypeError('A model must return an async iterable of events.')
  return open.call(events)
}
