import { isThenable } from './answer-at-once.ts'

/**
 * Goes on with what `start` returns: at once where it is there already, so that what is synchronous costs no tick,
 * and later where it is a promise. A throw and a rejection are the same.
 */
export function whenSettled<Value>(
  start: () => Value | PromiseLike<Value>,
  done: (value: Value) => void,
  failed: (error: unknown) => void,
): void {
  let started: Value | PromiseLike<Value>
  let isPending: boolean
  try {
    started = start()
    isPending = isThenable(started)
  } catch (error) {
    return failed(error)
  }
  if (!isPending) return done(started as Value)
  // by way of a real promise: a thenable may call back twice
  Promise.resolve(started).then(done, failed)
}
