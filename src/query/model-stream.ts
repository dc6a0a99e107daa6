import type { Model, ModelRequest } from '../model/model.ts'
import { type Clock, clearTimer } from '../pipeline/clock.ts'

export interface StreamHandlers {
  /** May ask for a pause. */
  event(event: unknown): Promise<void> | undefined | void
  ended(): void
  failed(error: unknown): void
}

/**
 * Reads one reply of a model to its end. Whoever stops it is not kept waiting by a stream that does not listen, and a
 * stream that falls silent for too long has failed.
 */
export class ModelStream {
  readonly #handlers: StreamHandlers
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #controller = new AbortController()
  #iterator: AsyncIterator<unknown> | undefined
  #timer: unknown
  #isOver = false

  constructor(clock: Clock, idleMs: number, handlers: StreamHandlers) {
    this.#clock = clock
    this.#idleMs = idleMs
    this.#handlers = handlers
  }

  start(model: Model, request: Omit<ModelRequest, 'signal'>): void {
    this.#read(model, { ...request, signal: this.#controller.signal }).catch((error) => this.#fail(error))
  }

  /** Nothing more is heard of it. */
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
      clearTimer(this.#clock, this.#timer)
      if (this.#isOver) return
      if (step.done === true) break
      await this.#handlers.event(step.value)
      if (this.#isOver) return
    }
    this.#isOver = true
    this.#handlers.ended()
  }

  #expect(): void {
    if (this.#isOver || this.#idleMs === Number.POSITIVE_INFINITY) return
    clearTimer(this.#clock, this.#timer)
    this.#timer = this.#clock.setTimeout(() => this.#stalled(), this.#idleMs)
  }

  #stalled(): void {
    const error = new Error(`The model sent nothing for ${this.#idleMs} ms.`)
    this.#fail(Object.assign(error, { name: 'TimeoutError', code: 'ETIMEDOUT' }))
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.stop()
    this.#handlers.failed(error)
  }

  /** A stream that is left may have trouble of its own on the way out; it is nobody's. */
  #leave(): void {
    const iterator = this.#iterator
    this.#iterator = undefined
    try {
      Promise.resolve(iterator?.return?.()).catch(() => undefined)
    } catch {
      // as above
    }
  }
}

function iteratorOf(events: unknown): AsyncIterator<unknown> {
  const open = (events as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator]
  if (typeof open !== 'function') throw new TypeError('A model must return an async stream of events.')
  return open.call(events)
}
