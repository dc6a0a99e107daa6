import { isAlone, isConflict } from './conflicts.ts'
import { isBarrier } from './evidence-book.ts'
import { firstOf, type Invariant, list } from './invariant.ts'
import { isClosed, mayBeAtWork } from './turn-evidence.ts'

/** Q4, K3: no two conflicting calls run at once, and at most `maxConcurrency` calls run. */
export const exclusivity: Invariant = {
  name: 'exclusivity',
  check({ calls, maxConcurrency }) {
    return firstOf(calls, ({ id, starts }) =>
      firstOf(starts, ({ beside, conflict }) => {
        if (conflict !== undefined) return `${id} started while ${conflict} ran, and the two conflict`
        if (beside.length >= maxConcurrency)
          return `${id} started beside ${beside.length} others; maxConcurrency is ${maxConcurrency}`
        return undefined
      }),
    )
  },
}

/** Q5, K3: no call overtakes a waiting call that it conflicts with. */
export const noOvertaking: Invariant = {
  name: 'no overtaking',
  check: ({ calls }) =>
    firstOf(calls, ({ id, overtook }) =>
      overtook === undefined
        ? undefined
        : `${id} started while ${overtook} before it still waited, and the two conflict`,
    ),
}

/** Q7: the gate's state matches the calls that run. */
export const gateSaysWhoRuns: Invariant = {
  name: 'the gate says who runs',
  check({ calls, gate }) {
    const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
    const should = executing.length === 0 ? 'open' : executing.some(isAlone) ? 'exclusive' : 'shared'
    return gate === should ? undefined : `the gate is ${gate}, but ${list(executing) || 'nothing'} executes`
  },
}

/** P5: a denied call never runs. */
export const denyMeansNeverRun: Invariant = {
  name: 'deny means never run',
  check: ({ calls }) =>
    firstOf(calls, ({ id, deniedAt, starts, body }) =>
      deniedAt !== undefined && (starts.length > 0 || (body?.starts ?? 0) > 0) ? `${id} was denied but ran` : undefined,
    ),
}

/** Q5, Q6: every call that may start has started. */
export const nobodyWaitsForNothing: Invariant = {
  name: 'no call waits without a reason',
  check({ calls, run, maxConcurrency }) {
    if (isClosed(run)) return undefined
    const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
    const waiting = calls.filter(({ phase }) => phase === 'queued')
    if (executing.filter(mayBeAtWork).length >= maxConcurrency) return undefined
    // without resources, only the first call in the queue can start
    const isKeyed = calls.some(({ keys }) => keys !== undefined)
    const first = waiting.find(({ isHeld, isSafe }) => !isHeld || !isSafe)
    const candidates = isKeyed || first === undefined ? waiting : [first]
    return firstOf(candidates, (call) => {
      if (call.isHeld || executing.some((each) => isConflict(each, call))) return undefined
      const isBehind = waiting.some((each) => isBarrier(each, call))
      return isBehind ? undefined : `${call.id} waits although it may start`
    })
  },
}
