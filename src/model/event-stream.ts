import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
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

const ended: Step = { done: true, value: undefined }

/**
 * The events of one reply, read from a source that is opened when the first is wanted. Written out, because it must
 * be possible to leave at any time: an abort or `return()` ends it at once, even while the source is silent.
 */
export function eventStream({ open, translate, signal }: EventStreamOptions): AsyncGenerator<ModelEvent, undefined> {
  const controller = new AbortController()
  const writer = replyWriter()
  const translator = translate?.(writer)
  const waiting = new Set<(step: Step) => void>()
  let source: AsyncIterator<unknown> | undefined
  let ready: ModelEvent[] = []
  let at = 0
  let isReadOut = false
  let isLeft = false
  let line: Promise<unknown> | undefined

  const onAbort = () => leave(signal?.reason)
  /** Nothing is read any more; a source that has not ended by itself is told. */
  const letGo = (reason?: unknown) => {
    signal?.removeEventListener('abort', onAbort)
    if (isReadOut) return
    isReadOut = true
    try {
      // not awaited: a source that sleeps would not answer
      Promise.resolve(source?.return?.()).catch(() => undefined)
    } catch {
      // a source that cannot be left
    }
    controller.abort(reason)
  }
  const leave = (reason?: unknown) => {
    if (isLeft) return
    isLeft = true
    letGo(reason)
    for (const resolve of waiting) resolve(ended)
    waiting.clear()
  }

  const begin = async (): Promise<void> => {
    if (signal?.aborted) return leave(signal.reason)
    signal?.addEventListener('abort', onAbort)
    const opened = iteratorOf(await open(controller.signal))
    // left in the meantime: a request that was answered all the same
    if (isLeft) Promise.resolve(opened.return?.()).catch(() => undefined)
    else source = opened
  }

  const read = async (): Promise<void> => {
    try {
      if (source === undefined) await begin()
      const item = isLeft ? undefined : await source?.next()
      if (isLeft || item === undefined) return
      isReadOut = item.done === true
      if (item.done) translator?.end?.()
      else takeSafely(translator, item.value)
      ready = translator === undefined && !item.done ? [item.value as ModelEvent] : writer.drain()
      // an item that says nothing is still a sign of life
      if (ready.length === 0 && !item.done) ready = [{ type: 'ping' }]
    } catch (error) {
      isReadOut = true
      // a reply that is whole stays so when the connection breaks behind it
      if (!writer.isComplete) throw error
      translator?.end?.()
      ready = writer.drain()
    } finally {
      at = 0
      if (isReadOut || writer.isOver) letGo()
    }
  }

  const pull = async (): Promise<Step> => {
    for (;;) {
      if (isLeft) return ended
      const event = ready[at++]
      if (event !== undefined) return { done: false, value: event }
      if (isReadOut) return ended
      await read()
    }
  }

  return {
    next() {
      if (isLeft) return Promise.resolve(ended)
      return new Promise<Step>((resolve, reject) => {
        waiting.add(resolve)
        const turn = line === undefined ? pull() : line.then(pull)
        line = turn.then(
          () => undefined,
          () => undefined,
        )
        turn.then(resolve, reject).finally(() => waiting.delete(resolve))
      })
    },
    async return() {
      leave()
      return ended
    },
    async throw(error) {
      leave()
      throw error
    },
    async [Symbol.asyncDispose]() {
      leave()
    },
    [Symbol.asyncIterator]() {
      return this
    },
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
