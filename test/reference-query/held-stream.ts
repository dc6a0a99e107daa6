import type { ModelEvent, ModelRequest } from '../../src/index.ts'

type Step = IteratorResult<ModelEvent, undefined>

/** One reply of a model that sends events only on demand, and knows whether it is being read. */
export class HeldStream implements AsyncIterable<ModelEvent> {
  readonly request: ModelRequest
  /** The state of the stream: open and closed block indices, and the requested calls. */
  readonly open = new Set<number>()
  readonly closed = new Set<number>()
  nextIndex = 0
  replyId: string | undefined
  readonly #isDeaf: boolean
  #pending: { resolve(step: Step): void; reject(error: unknown): void } | undefined
  #queue: (() => void)[] = []
  #isOver = false

  constructor(request: ModelRequest, isDeaf: boolean) {
    this.request = request
    this.#isDeaf = isDeaf
    request.signal.addEventListener('abort', () => {
      if (!isDeaf) this.#pending?.reject(new DOMException('aborted', 'AbortError'))
    })
  }

  /** It will not be read again. */
  get isOver(): boolean {
    return this.#isOver || this.request.signal.aborted
  }

  /** The reader waits for the next event. */
  get isAwaited(): boolean {
    return !this.isOver && this.#pending !== undefined && this.#queue.length === 0
  }

  send(...events: unknown[]): void {
    for (const event of events) {
      this.#push(() => this.#pending?.resolve({ done: false, value: event as ModelEvent }))
    }
  }

  end(): void {
    this.#push(() => {
      this.#isOver = true
      this.#pending?.resolve({ done: true, value: undefined })
    })
  }

  fail(error: unknown): void {
    this.#push(() => {
      this.#isOver = true
      this.#pending?.reject(error)
    })
  }

  [Symbol.asyncIterator](): AsyncIterator<ModelEvent, undefined> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          this.#pending = { resolve, reject }
          this.#flush()
        }),
      return: async () => {
        this.#isOver = true
        // a stream that ignores its signal does not end quickly either
        if (this.#isDeaf) await new Promise(() => undefined)
        return { done: true, value: undefined }
      },
    }
  }

  #push(step: () => void): void {
    this.#queue.push(step)
    this.#flush()
  }

  #flush(): void {
    if (this.#pending === undefined) return
    const step = this.#queue.shift()
    if (step === undefined) return
    step()
    this.#pending = undefined
  }
}
