/** The answer of a callback that must answer synchronously. A promise is no answer; its rejection is caught here. */
export function answerAtOnce<Answer>(answer: Answer): Answer | undefined {
  if (!isThenable(answer)) return answer
  Promise.resolve(answer).catch(() => undefined)
  return undefined
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/**
 * Continues with the result of `start`: at once for a plain value, so that synchronous work costs no tick, and later for a
 * promise. A throw and a rejection are handled alike.
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
  // through a real promise, because a thenable may call back twice
  Promise.resolve(started).then(done, failed)
}
