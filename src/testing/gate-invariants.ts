import { firstOf, list } from './first-of.ts'
import type { Invariant } from './invariant.ts'
import { isClosed } from './is-closed.ts'

/** Q4: an unsafe call runs alone, and never more calls than allowed run. */
export const exclusivity: Invariant = {
  name: 'exclusivity',
  check({ calls, maxConcurrency }) {
    const byId = new Map(calls.map((call) => [call.id, call]))
    return firstOf(calls, ({ id, starts }) =>
      firstOf(starts, ({ beside, isSafe }) => {
        if (!isSafe && beside.length > 0) return `${id} is unsafe and began while ${beside.join(', ')} ran`
        const unsafe = beside.find((other) => byId.get(other)?.starts.at(-1)?.isSafe === false)
        if (unsafe !== undefined) return `${id} began while the unsafe ${unsafe} ran`
        if (beside.length >= maxConcurrency)
          return `${id} began beside ${beside.length}, and only ${maxConcurrency} may`
        return undefined
      }),
    )
  },
}

/** Q5: nothing overtakes an unsafe call that waits. */
export const noOvertaking: Invariant = {
  name: 'no overtaking',
  check: ({ calls }) =>
    firstOf(calls, ({ id, overtook }) =>
      overtook === undefined ? undefined : `${id} began while the unsafe ${overtook} before it still waited`,
    ),
}

/** Q7: the gate says who runs. */
export const gateSaysWhoRuns: Invariant = {
  name: 'the gate says who runs',
  check({ calls, gate }) {
    const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
    const should = executing.length === 0 ? 'open' : executing.every(({ isSafe }) => isSafe) ? 'shared' : 'exclusive'
    return gate === should ? undefined : `the gate is ${gate}, and ${list(executing) || 'nothing'} executes`
  },
}

/** P5: what was denied never runs. */
export const denyMeansNeverRun: Invariant = {
  name: 'deny means never run',
  check: ({ calls }) =>
    firstOf(calls, ({ id, deniedAt, starts, body }) =>
      deniedAt !== undefined && (starts.length > 0 || (body?.starts ?? 0) > 0)
        ? `${id} was denied, and ran`
        : undefined,
    ),
}

/** Q5, Q6: who may start has started. */
export const nobodyWaitsForNothing: Invariant = {
  name: 'nobody waits for nothing',
  check({ calls, run, maxConcurrency }) {
    if (isClosed(run)) return undefined
    const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
    const waiting = calls.filter(({ phase }) => phase === 'queued')
    const next = waiting.find(({ isHeld, isSafe }) => !isHeld || !isSafe)
    if (next === undefined || next.isHeld) return undefined
    const hasRoom = next.isSafe
      ? executing.every(({ isSafe }) => isSafe) && executing.length < maxConcurrency
      : executing.length === 0
    return hasRoom ? `${next.id} could run and waits` : undefined
  },
}
