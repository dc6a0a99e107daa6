import type { MessageUpdate } from '../executor/delivery.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { EvidenceBook } from './evidence-book.ts'

/** Records what readers get, by wrapping the executor's methods. Returns a function that restores them. */
export function seeMessages(executor: StreamingToolExecutor, book: EvidenceBook): () => void {
  const { getCompletedResults, getRemainingResults } = executor
  Object.assign(executor, {
    *getCompletedResults(): Generator<MessageUpdate, void, undefined> {
      for (const update of getCompletedResults.call(executor)) {
        book.read(update.message)
        yield update
      }
    },
    getRemainingResults: () => watched(getRemainingResults.call(executor), book),
  })
  return () => {
    for (const name of ['getCompletedResults', 'getRemainingResults']) Reflect.deleteProperty(executor, name)
  }
}

type Updates = AsyncGenerator<MessageUpdate, void, undefined>

function watched(updates: Updates, book: EvidenceBook): Updates {
  const reader: Updates = {
    async next() {
      book.sleepingReaders++
      try {
        const step = await updates.next()
        if (step.done !== true) book.read(step.value.message)
        return step
      } finally {
        book.sleepingReaders--
      }
    },
    return: (value) => updates.return(value),
    throw: (error) => updates.throw(error),
    [Symbol.asyncIterator]: () => reader,
    [Symbol.asyncDispose]: () => updates[Symbol.asyncDispose](),
  }
  return reader
}
