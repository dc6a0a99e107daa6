import { readField } from '../../base/read-field.ts'
import type { ItemSource } from '../event-stream.ts'

const ping: IteratorResult<unknown> = { done: false, value: { type: 'ping' } }

/**
 * What a client answers with, and a ping whenever the service sent something that the client keeps to itself. The client
 * swallows pings, and a long thought consists of nothing else: without them it looks like a dead connection.
 */
export async function withSignsOfLife(request: PromiseLike<unknown>): Promise<unknown> {
  const withResponse = readField(request, 'withResponse')
  if (typeof withResponse !== 'function') return request
  const { data, response } = await withResponse.call(request)
  const body = readField(response, 'body')
  if (!(body instanceof ReadableStream) || body.locked || !isStream(data)) return data
  const items = new LivelyItems(data)
  // the client reads the body when the first item is wanted
  Object.defineProperty(response, 'body', { value: items.watch(body), configurable: true })
  return { [Symbol.asyncIterator]: () => items } satisfies ItemSource
}

const isStream = (data: unknown): data is AsyncIterable<unknown> =>
  typeof (data as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function'

class LivelyItems implements AsyncIterator<unknown> {
  readonly #stream: AsyncIterable<unknown>
  #source: AsyncIterator<unknown> | undefined
  /** The client's next item; it stays the next one where a ping was handed over in its place. */
  #item: Promise<IteratorResult<unknown>> | undefined
  #signal = (): void => undefined
  /** The client got bytes that no item has come of yet. */
  #isOwing = false

  constructor(stream: AsyncIterable<unknown>) {
    this.#stream = stream
  }

  /** The same bytes. When the client asks for more without having made an item of the last, they were a ping. */
  watch(body: ReadableStream<unknown>): ReadableStream<unknown> {
    const reader = body.getReader()
    const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
      if (this.#isOwing) this.#signal()
      const { done, value } = await reader.read()
      if (done) return controller.close()
      this.#isOwing = true
      controller.enqueue(value)
    }
    // asked for a piece only when the client wants it
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
      this.#signal = () => answer(() => resolve(ping))
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
