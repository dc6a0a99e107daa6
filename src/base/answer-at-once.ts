/** The answer of a callback that must answer synchronously. A promise is no answer; its rejection is caught here. */
export function answerAtOnce<Answer>(answer: Answer): Answer | undefined {
  if (!isThenable(answer)) return answer
  Promise.resolve(answer).catch(() => undefined)
  return undefined
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
