import { resultTexts } from '../results/result-texts.ts'
import { firstOf, type Invariant } from './invariant.ts'

/**
 * A body that is told to stop ends within the grace period. Of a body that waits at `hold(label)`, this can only be true
 * if it passes its signal: `hold(label, signal)`.
 */
export const bodiesStop: Invariant = {
  name: 'bodies stop',
  isLiveOnly: true,
  check: ({ calls }) =>
    firstOf(calls, ({ id, name, body }) =>
      body?.isAbandoned === true && body.isRunning
        ? `${id} (${name}) was told to stop and still runs after the grace period. Pass its signal to what it waits for`
        : undefined,
    ),
}

/** The data of a body can be converted for the model. */
export const resultsAreFormatted: Invariant = {
  name: 'results are formatted',
  check: ({ calls }) =>
    firstOf(calls, ({ id, name, results }) => {
      const problem = results.find(({ isError, text }) => isError && text.includes(unformattable))
      return problem && `the result of ${id} (${name}) could not be converted for the model: ${problem.text}`
    }),
}

const unformattable = resultTexts.unformattable('').toolUseResult.trim()

/** A body does not report faster than a reader can follow. */
export const progressIsKept: Invariant = {
  name: 'progress is kept',
  check: ({ calls }) =>
    firstOf(calls, ({ id, name, progressDropped }) =>
      progressDropped === 0
        ? undefined
        : `${progressDropped} progress messages of ${id} (${name}) were dropped, because nobody read them in time`,
    ),
}

/** What a well-behaved tool does. Signalbox copes with tools that do not. */
export const toolInvariants: readonly Invariant[] = [bodiesStop, resultsAreFormatted, progressIsKept]
