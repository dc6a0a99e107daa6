import { describeValue } from '../base/describe-value.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { ModelEvent } from './model.ts'
import { type ReplyWriter, replyWriter } from './reply-writer.ts'

/** What a service sends: of a client library, a web stream, or an array in a test. */
export type ItemSource = AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>

/** Turns the items of a service into events of a reply. */
export interface Translator {
  take(item: unknown): void
  /** The source is at its end. Without a word on why the model stopped, the reply was cut off. */
  end?(): void
}

export interface EventStreamOptions {
  /** `stopped` aborts when nobody reads any more, and when the last event came before the end. */
  open(stopped: AbortSignal): ItemSource | PromiseLike<unknown>
  /** Without it the items are the events. */
  translate?(writer: ReplyWriter): Translator
  signal?: AbortSignal | undefined
}

type Step = IteratorResult<ModelEvent, undefined>
type Item = IteratorResult<unknown, unknown>

interface Waiting {
  resolve(step: Step): void
  reject(error: unknown): void
}

const ended: Step = { done: true, value: undefined }

/** How long a connection has to end after the last event, before it is broken off. */
const farewellMs = 1_000

/** The events of one reply, read from a source that is opened when the first is wanted. */
export const eventStream = (options: EventStreamOptions): AsyncGenerator<ModelEvent, undefined> =>
  new EventStream(options)

/**
 * Written out, because it must be possible to leave at any time: an abort or `return()` ends it at once, even while the
 * source is silent. And because a generator inside a generator costs more than what most events are about.
 */
class EventStream implements AsyncGenerator<ModelEvent, undefined> {
  readonly #options: EventStreamOptions
  readonly #controller = new AbortController()
  readonly #writer = replyWriter()
  readonly #translator: Translator | undefined
  readonly #waiting: Waiting[] = []
  #source: AsyncIterator<unknown> | undefined
  #ready: ModelEvent[] = []
  #at = 0
  #isAsking = false
  /** Nothing more is asked of the source. */
  #isReadOut = false
  /** Nobody is told of anything any more. */
  #isLeft = false

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#translator = options.translate?.(this.#writer)
  }

  next(): Promise<Step> {
    const step = this.#waiting.length === 0 ? this.#nextReady() : undefined
    if (step !== undefined) return Promise.resolve(step)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#ask()
    })
  }

  async return(): Promise<Step> {
    this.#leave()
    return ended
  }

  async throw(error: unknown): Promise<Step> {
    this.#leave()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #nextReady(): Step | undefined {
    if (this.#isLeft) return ended
    const value = this.#ready[this.#at]
    if (value === undefined) return this.#isReadOut ? ended : undefined
    this.#at++
    return { done: false, value }
  }

  /** One item at a time, however many wait. */
  #ask(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#nextItem().then(
      (item) => this.#answer(() => this.#take(item)),
      (error) => this.#answer(() => this.#break(error)),
    )
  }

  #nextItem(): Promise<Item | undefined> {
    if (this.#source === undefined) return this.#begin()
    try {
      return Promise.resolve(this.#source.next())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #begin(): Promise<Item | undefined> {
    const { open, signal } = this.#options
    if (signal?.aborted) return this.#leave(signal.reason)
    signal?.addEventListener('abort', this.#onAbort)
    const source = iteratorOf(await open(this.#controller.signal))
    // left in the meantime: a request that was answered all the same
    if (this.#isLeft) return leave(source)
    this.#source = source
    return source.next()
  }

  /** Whatever the item was, those who wait for it get something. */
  #answer(take: () => void): void {
    this.#isAsking = false
    if (this.#isLeft) return
    try {
      take()
    } catch (error) {
      this.#isReadOut = true
      this.#letGo()
      this.#waiting.shift()?.reject(error)
    }
    while (this.#waiting.length > 0) {
      const step = this.#nextReady()
      if (step === undefined) return this.#ask()
      this.#waiting.shift()?.resolve(step)
    }
  }

  #take(item: Item | undefined): void {
    if (item === undefined || item.done === true) return this.#finish()
    takeSafely(this.#translator, item.value)
    const events = this.#translator === undefined ? [item.value as ModelEvent] : this.#writer.drain()
    // an item that says nothing is still a sign of life
    this.#hold(events.length === 0 ? [{ type: 'ping' }] : events)
    if (this.#writer.isOver) this.#seeOff()
  }

  /** A reply that is whole stays so when the connection breaks behind it. */
  #break(error: unknown): void {
    if (!this.#writer.isComplete) throw error
    this.#finish()
  }

  #finish(): void {
    this.#isReadOut = true
    this.#translator?.end?.()
    this.#hold(this.#writer.drain())
    this.#letGo()
  }

  #hold(events: ModelEvent[]): void {
    this.#ready = events
    this.#at = 0
  }

  readonly #onAbort = () => this.#leave(this.#options.signal?.reason)

  #leave(reason?: unknown): undefined {
    if (this.#isLeft) return
    this.#isLeft = true
    this.#letGo(reason)
    for (const { resolve } of this.#waiting.splice(0)) resolve(ended)
  }

  /** Nothing is read any more; a source that has not ended by itself is told. */
  #letGo(reason?: unknown): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    if (this.#isReadOut) return
    this.#isReadOut = true
    this.#breakOff(reason)
  }

  /** The reply is over, and so is its connection in a moment: broken off, it could not be used for the next request. */
  #seeOff(): void {
    this.#isReadOut = true
    this.#letGo()
    const breakOff = () => this.#breakOff()
    // not the host's clock: nothing that anybody waits for depends on it
    const timer: unknown = setTimeout(breakOff, farewellMs)
    ;(timer as { unref?(): void }).unref?.()
    this.#nextItem()
      .then((item) => item?.done === true || breakOff(), ignore)
      .finally(() => clearTimeout(timer as number))
  }

  #breakOff(reason?: unknown): void {
    if (this.#source !== undefined) leave(this.#source)
    this.#controller.abort(reason)
  }
}

const ignore = (): void => undefined

/** Not awaited: a source that sleeps would not answer, and one that cannot be left is nobody's trouble. */
function leave(source: AsyncIterator<unknown>): undefined {
  try {
    Promise.resolve(source.return?.()).catch(ignore)
  } catch {
    // as above
  }
}

/** What a service sends may be anything, getters that throw included. */
function takeSafely(translator: Translator | undefined, item: unknown): void {
  try {
    translator?.take(item)
  } catch {
    // passed over
  }
}

function iteratorOf(source: unknown): AsyncIterator<unknown> {
  const given = source as
    | Partial<AsyncIterable<unknown> & Iterable<unknown> & ReadableStream<unknown>>
    | null
    | undefined
  if (typeof given?.getReader === 'function') return readerOf(given as ReadableStream<unknown>)
  if (typeof given?.[Symbol.asyncIterator] === 'function')
    return (given as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  if (typeof source === 'object' && typeof given?.[Symbol.iterator] === 'function') {
    const items = (given as Iterable<unknown>)[Symbol.iterator]()
    return { next: async () => items.next() }
  }
  throw new SignalboxError(
    'invalid_option',
    `A model has to return a stream of events, not ${describeValue(source, 200)}.`,
  )
}

/** Not every browser can iterate a web stream. */
function readerOf(stream: ReadableStream<unknown>): AsyncIterator<unknown> {
  const reader = stream.getReader()
  return {
    next: async () => {
      const { done, value } = await reader.read()
      return done ? ended : { done: false, value }
    },
    return: async () => {
      await reader.cancel()
      return ended
    },
  }
}
