import type { Attempt } from './attempt.ts'
import type { QueryLoop } from './query-loop.ts'

/** Waits for the last result of the reply, and for the bodies of attempts that do not count. */
export function drain(loop: QueryLoop): void {
  const { attempt, oldBodies } = loop
  const gone = oldBodies.whenGone()
  if (gone === undefined) attempt.drain()
  else void gone.then(() => attempt.drain())
}

/** Each call has its result: the turn enters the conversation. */
export function drained(loop: QueryLoop, attempt: Attempt): void {
  if (attempt !== loop.attempt) return
  loop.transcript.add(attempt)
  loop.setup.clearAddedRules()
  if (!attempt.isResumed) loop.turns++
  loop.fruitlessTurns = attempt.isFruitless ? loop.fruitlessTurns + 1 : 0
  // a reply that counts only because something had been done is a failure all the same
  if (!attempt.isCutOff) loop.choice.succeeded()
  loop.tell({ type: 'results.drained' })
}
