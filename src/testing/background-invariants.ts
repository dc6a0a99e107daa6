import type { Message } from '../messages/message.ts'
import { firstOf } from './invariant.ts'
import type { QueryInvariant } from './query-invariants.ts'

/** A call that went to the background, by what its body and the story know of it. */
export interface BackgroundEvidence {
  /** The id of the call that the model made. */
  readonly id: string
  /** The query agreed to take it over. */
  readonly isTaken: boolean
  /** Its reply was dropped: nobody gets the outcome. */
  readonly isDiscarded: boolean
  /** Its body has not settled. */
  readonly isRunning: boolean
  readonly isTold: boolean
  /** What the outcome must say. Absent if the body did not settle, was told to stop, or may run again. */
  readonly says: string | undefined
  /** A time limit may stop it. */
  readonly isTimed: boolean
}

const outcomesIn = (transcript: readonly Message[]) =>
  transcript.flatMap((message) =>
    message.type === 'user' && message.background !== undefined
      ? [{ id: message.background.toolUseID, text: JSON.stringify(message.message.content) }]
      : [],
  )

/** X1: a call whose body runs can go to the background. */
export const detachIsTaken: QueryInvariant = {
  name: 'a running call can go to the background',
  check: ({ background }) =>
    firstOf(background, ({ id, isTaken }) => (isTaken ? undefined : `${id} ran, but detach refused it`)),
}

/** X3: each outcome is delivered exactly once, in order of completion, as the body's own; none is made up. */
export const outcomesDeliveredOnce: QueryInvariant = {
  name: 'a background outcome is delivered once',
  check({ background, ended, transcript, result }) {
    const outcomes = outcomesIn(transcript)
    const stray = outcomes.find(({ id }) => !background.some((call) => call.id === id))
    if (stray !== undefined) return `${stray.id} has an outcome, but never went to the background`
    const order = outcomes.map(({ id }) => ended.indexOf(id)).filter((at) => at >= 0)
    if (order.some((at, n) => n > 0 && at < (order[n - 1] ?? 0)))
      return `the outcomes of ${outcomes.map(({ id }) => id).join(', ')} are not in the order in which the calls ended`
    return firstOf(background, ({ id, isDiscarded, isRunning, isTold, says }) => {
      const own = outcomes.filter((outcome) => outcome.id === id)
      if (own.length > 1) return `the outcome of ${id} was delivered ${own.length} times`
      const [outcome] = own
      if (outcome === undefined) {
        const isDue = result !== undefined && says !== undefined && !isDiscarded
        return isDue ? `${id} ended, but its outcome is not in the transcript` : undefined
      }
      if (isDiscarded) return `the reply of ${id} was dropped, but its outcome was delivered`
      if (isRunning && !isTold) return `${id} still runs, but it has an outcome`
      return says === undefined || outcome.text.includes(says)
        ? undefined
        : `${id} ended with ${says}, but its outcome says: ${outcome.text}`
    })
  },
}

/** X4: a query that completes has waited for every call in the background. */
export const completedWaits: QueryInvariant = {
  name: 'a completed query has waited',
  check: ({ background, result }) =>
    result?.reason !== 'completed'
      ? undefined
      : firstOf(background, ({ id, isDiscarded, isRunning, isTold, isTimed }) => {
          if (isDiscarded || isTimed) return undefined
          if (isRunning) return `the query completed, but ${id} still runs`
          return isTold ? `the query completed, but ${id} was told to stop` : undefined
        }),
}

/** X6: an interrupt, a message and a sibling's error do not stop a call in the background. */
export const backgroundIsSpared: QueryInvariant = {
  name: 'what is in the background goes on',
  check: ({ background, isActive, endedBy }) =>
    !isActive || endedBy === 'abort'
      ? undefined
      : firstOf(background, ({ id, isTold, isDiscarded, isTimed }) =>
          isTold && !isDiscarded && !isTimed ? `${id} was told to stop, but nobody stopped it` : undefined,
        ),
}

export const backgroundInvariants: readonly QueryInvariant[] = [
  detachIsTaken,
  outcomesDeliveredOnce,
  completedWaits,
  backgroundIsSpared,
]
