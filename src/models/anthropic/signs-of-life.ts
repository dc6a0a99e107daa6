import { readField } from '../../base/read-field.ts'
import type { ItemSource } from '../event-stream.ts'

const ping: IteratorResult<unknown> = { done: false, value: { type: 'ping' } }

/**
 * The client's stream, with a ping whenever the service sent bytes that the client does not pass on. The client drops
 * pings, and during long thinking the service sends nothing else: without them the connection looks dead.
 */
export async function withSignsOfLife(request: PromiseLike<unknown>): Promise<unknown> {
  const withResponse = readField(request, 'withResponse')
  if (typeof withResponse !== 'function') return request
  const { data, response } = await withResponse.call(request)
  const body = readField(response, 'body')
  if (!(body instanceof ReadableStream) || body.locked || !isStream(data)) return data
  const items = new LivelyItems(data)
  // the client reads the body only when the first item is requested
  Object.defineProperty(response, 'body', { value: items.watch(body), configurable: true })
  return { [Symbol.asyncIterator]: () => items } satisfies ItemSource
}

const isStream = (data: unknown): data is AsyncIterable<unknown> =>
  typeof (data as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function'

class LivelyItems implements AsyncIterator<unknown> {
  readonly #stream: AsyncIterable<unknown>
  #source: AsyncIterator<unknown> | undefined
  /** The client's next item; kept if a ping was returned in its place. */
  #item: Promise<IteratorResult<unknown>> | undefined
  #signal = (): void => undefined
  /** The client received bytes that have not produced an item yet. */
  #isOwing = false

  constructor(stream: AsyncIterable<unknown>) {
    this.#stream = stream
  }

  /** The same bytes. If the client asks for more before the last bytes produced an item, they were a ping. */
  watch(body: ReadableStream<unknown>): ReadableStream<unknown> {
    const reader = body.getReader()
    const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
      if (this.#isOwing) this.#signal()
      const { done, value } = await reader.read()
      if (done) return controller.close()
      this.#isOwing = true
      controller.enqueue(value)
    }
    // highWaterMark 0: read a chunk only when the client wants one
    return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
  }

  next(): Promise<IteratorResult<unknown>> {
    this.#source ??= this.#stream[Symbol.asyncIterator]()
    this.#item ??= this.#source.next()
    const item = this.#item
    return new Promise((resolve, reject) => {
      let isAnswered = false
      const answer = (give: () => void): void => {
        if (isAnswered) return
        isAnswered = true
        give()
      }
      const signal = (): void => answer(() => resolve(ping))
      this.#signal = signal
      const take = (give: () => void): void =>
        answer(() => {
          this.#item = undefined
          this.#isOwing = false
          give()
        })
      item.then(
        (step) => take(() => resolve(step)),
        (error) => take(() => reject(error)),
      )
    })
  }

  async return(): Promise<IteratorResult<unknown>> {
    await this.#source?.return?.()
    return { done: true, value: undefined }
  }
}
