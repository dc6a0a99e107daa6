import { mayBeAtWork } from './at-work.ts'
import { firstOf, list } from './first-of.ts'
import type { Invariant } from './invariant.ts'
import { isClosed } from './is-closed.ts'

/** Q4: an unsafe call runs alone, and at most `maxConcurrency` calls run. */
export const exclusivity: Invariant = {
  name: 'exclusivity',
  check({ calls, maxConcurrency }) {
    const byId = new Map(calls.map((call) => [call.id, call]))
    return firstOf(calls, ({ id, starts }) =>
      firstOf(starts, ({ beside, isSafe }) => {
        if (!isSafe && beside.length > 0) return `${id} is unsafe but started while ${beside.join(', ')} ran`
        const unsafe = beside.find((other) => byId.get(other)?.starts.at(-1)?.isSafe === false)
        if (unsafe !== undefined) return `${id} started while the unsafe ${unsafe} ran`
        if (beside.length >= maxConcurrency)
          return `${id} started beside ${beside.length} others; maxConcurrency is ${maxConcurrency}`
        return undefined
      }),
    )
  },
}

/** Q5: no call overtakes a waiting unsafe call. */
export const noOvertaking: Invariant = {
  name: 'no overtaking',
  check: ({ calls }) =>
    firstOf(calls, ({ id, overtook }) =>
      overtook === undefined ? undefined : `${id} started while the unsafe ${overtook} before it still waited`,
    ),
}

/** Q7: the gate's state matches the calls that run. */
export const gateSaysWhoRuns: Invariant = {
  name: 'the gate says who runs',
  check({ calls, gate }) {
    const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
    const should = executing.length === 0 ? 'open' : executing.every(({ isSafe }) => isSafe) ? 'shared' : 'exclusive'
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
    const next = waiting.find(({ isHeld, isSafe }) => !isHeld || !isSafe)
    if (next === undefined || next.isHeld) return undefined
    const hasRoom = next.isSafe
      ? executing.every(({ isSafe }) => isSafe) && executing.filter(mayBeAtWork).length < maxConcurrency
      : executing.length === 0
    return hasRoom ? `${next.id} waits although it may start` : undefined
  },
}
