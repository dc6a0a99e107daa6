import { describeValue } from '../base/describe-value.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { ModelEvent } from './model.ts'
import { ReplyWriter } from './reply-writer.ts'

/** The items that a service sends: from a client library, a web stream, or an array in a test. */
export type ItemSource = AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>

/** Converts the items of a service to events of a reply. */
export interface Translator {
  take(item: unknown): void
  /** Called at the end of the source. Without a stop reason, the reply was cut off. */
  end?(): void
  /** The service has ended its reply, but the source passes that on only at its own end. */
  readonly isAnnounced?: boolean
}

export interface EventStreamOptions {
  /** `stopped` aborts when the reader leaves, and when the reply ends before the source. */
  open(stopped: AbortSignal): ItemSource | PromiseLike<unknown>
  /** If absent, the items are the events. */
  translate?(writer: ReplyWriter): Translator
  signal?: AbortSignal | undefined
}

type Step = IteratorResult<ModelEvent, undefined>
type Item = IteratorResult<unknown, unknown> | typeof silent

interface Waiting {
  resolve(step: Step): void
  reject(error: unknown): void
}

const ended: Step = { done: true, value: undefined }

/** How long a connection may take to end after the last event, before it is closed. */
const farewellMs = 1_000

/** How long a source may be silent after its service has ended the reply, before the reply counts without the source's end. */
const silenceMs = 5_000
const silent = Symbol('silent')

/** The events of one reply. The source is opened when the first event is requested. */
export const eventStream = (options: EventStreamOptions): AsyncGenerator<ModelEvent, undefined> =>
  new EventStream(options)

/**
 * Not a native generator, because a reader must be able to leave at any time: an abort or `return()` ends it at once, even
 * while the source is silent. Nested generators would also cost more than most events.
 */
class EventStream implements AsyncGenerator<ModelEvent, undefined> {
  readonly #options: EventStreamOptions
  readonly #controller = new AbortController()
  readonly #writer = new ReplyWriter()
  readonly #translator: Translator | undefined
  readonly #waiting: Waiting[] = []
  #source: AsyncIterator<unknown> | undefined
  /** The events of one item; not an `AsyncQueue`, which would read the source before a reader asks for more. */
  #ready: ModelEvent[] = []
  #at = 0
  #isAsking = false
  /** No more items are read from the source. */
  #isReadOut = false
  /** The reader has left. */
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

  /** Reads one item at a time, however many readers wait. */
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
      const next = Promise.resolve(this.#source.next())
      return this.#translator?.isAnnounced === true ? unlessSilent(next) : next
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #begin(): Promise<Item | undefined> {
    const { open, signal } = this.#options
    if (signal?.aborted) return this.#leave(signal.reason)
    signal?.addEventListener('abort', this.#onAbort)
    const source = iteratorOf(await open(this.#controller.signal))
    // the reader left while the request was being answered
    if (this.#isLeft) return leave(source)
    this.#source = source
    return source.next()
  }

  /** Handles an item and resolves the waiting readers. */
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
    if (item === silent) return this.#hangUp()
    if (item === undefined || item.done === true) return this.#finish()
    takeSafely(this.#translator, item.value)
    const events = this.#translator === undefined ? [item.value as ModelEvent] : this.#writer.drain()
    // an item without an event still shows that the connection is alive
    this.#hold(events.length === 0 ? [{ type: 'ping' }] : events)
    if (this.#writer.isOver) this.#seeOff()
  }

  /** If the connection breaks after a complete reply, the reply stays complete. */
  #break(error: unknown): void {
    if (!this.#writer.isComplete && this.#translator?.isAnnounced !== true) throw error
    this.#finish()
  }

  #finish(): void {
    this.#isReadOut = true
    this.#translator?.end?.()
    this.#hold(this.#writer.drain())
    this.#letGo()
  }

  /** The reply has ended, the connection has not. */
  #hangUp(): void {
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

  /** Stops reading; a source that has not ended is closed. */
  #letGo(reason?: unknown): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    if (this.#isReadOut) return
    this.#isReadOut = true
    this.#breakOff(reason)
  }

  /** The reply has ended: give the connection a moment to end too, so that it can be reused for the next request. */
  #seeOff(): void {
    this.#isReadOut = true
    this.#letGo()
    const breakOff = () => this.#breakOff()
    // not the host's clock, because nothing waits for this timer
    const timer: unknown = setTimeout(breakOff, farewellMs)
    ;(timer as { unref?(): void }).unref?.()
    this.#nextItem()
      .then((item) => (item !== silent && item?.done === true) || breakOff(), ignore)
      .finally(() => clearTimeout(timer as number))
  }

  #breakOff(reason?: unknown): void {
    if (this.#source !== undefined) leave(this.#source)
    this.#controller.abort(reason)
  }
}

const ignore = (): void => undefined

function unlessSilent(next: Promise<Item>): Promise<Item> {
  let timer: unknown
  const silence = new Promise<Item>((resolve) => {
    timer = setTimeout(resolve, silenceMs, silent)
  })
  return Promise.race([next, silence]).finally(() => clearTimeout(timer as number))
}

/** Not awaited: a sleeping source would not answer, and an error at this point does not matter. */
function leave(source: AsyncIterator<unknown>): undefined {
  try {
    Promise.resolve(source.return?.()).catch(ignore)
  } catch {
    // see above
  }
}

/** Ignores an item that throws: a service may send anything, including getters that throw. */
function takeSafely(translator: Translator | undefined, item: unknown): void {
  try {
    translator?.take(item)
  } catch {
    // ignored
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
    `A model must return a stream of events: expected an async iterable, an iterable or a ReadableStream, received ${describeValue(source, 200)}.`,
  )
}

/** Some browsers cannot iterate a web stream. */
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
