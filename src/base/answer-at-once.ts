/**
 * The answer of a callback that has to answer at once. A promise is no answer; should it reject, nobody else would
 * be listening.
 */
export function answerAtOnce<Answer>(answer: Answer): Answer | undefined {
  if (!isThenable(answer)) return answer
  Promise.resolve(answer).catch(() => undefined)
  return undefined
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
