import type { StopKind } from '../../machines/index.ts'
import { isBodyAlive } from './evidence-book.ts'
import { firstOf, type Invariant } from './invariant.ts'
import { isClosed, type RunState } from './turn-evidence.ts'

/** A2, A4, A5: a call that was aborted, or added after the turn was stopped, does not start. */
export const noStartAfterAbort: Invariant = {
  name: 'no start after an abort',
  check({ calls, runs }) {
    const closedAt = runs.find(({ run }) => isClosed(run))?.at ?? Number.POSITIVE_INFINITY
    return firstOf(calls, ({ id, starts, toldAt = Number.POSITIVE_INFINITY, completedAt = Number.POSITIVE_INFINITY }) =>
      firstOf(starts, ({ at }) => {
        if (at > completedAt) return `${id} started after it was completed`
        if (at > toldAt) return `${id} started after it was told to stop`
        return at > closedAt ? `${id} started after the turn was stopped` : undefined
      }),
    )
  },
}

const stillGoesOn = new Set([
  'queued',
  'executing.validating',
  'executing.preHooks',
  'executing.permission.deciding',
  'executing.permission.asking',
  'executing.permission.later',
  'executing.calling.here',
  'executing.calling.sent',
  'executing.calling.remote',
  'executing.retrying',
])

/** A2, A3, A4, A5: an abort reaches every call it applies to, including the signal of its body. */
export const abortReachesAll: Invariant = {
  name: 'an abort reaches all',
  check({ calls, run }) {
    if (run === 'clear') return undefined
    return firstOf(calls, (call) => {
      const { id, phase, stopsAtInterrupt, body } = call
      const isMeant = isClosed(run) || stopsAtInterrupt
      if (!isMeant) return undefined
      if (stillGoesOn.has(phase)) return `the turn is ${run}, but ${id} is still ${phase}`
      const isDeaf = body !== undefined && isBodyAlive(call) && !body.signal.aborted
      return isDeaf && phase === 'executing.stopping'
        ? `${id} was told to stop, but its signal is not aborted`
        : undefined
    })
  },
}

/** A3: an interrupt does not affect calls with `'block'` behaviour. */
export const interruptSparesOthers: Invariant = {
  name: 'an interrupt stops only calls that allow it',
  check: ({ calls, run }) =>
    run !== 'interrupted'
      ? undefined
      : firstOf(calls, (call) => {
          const { id, stopsAtInterrupt, phase, ending } = call
          if (stopsAtInterrupt) return undefined
          const wasCut =
            ending?.by === 'abort' && ending.cause.kind === 'user_interrupted' && ending.reached === 'notStarted'
          if (wasCut) return `${id} ignores interrupts, but one kept it from starting`
          const isStopping = phase === 'executing.stopping' && ending === undefined && !call.hasTimedOut
          return isStopping ? `${id} ignores interrupts, but one told it to stop` : undefined
        }),
}

const rank: Record<RunState, number> = { clear: 0, interrupted: 1, aborted: 2, siblingErrored: 3, discarded: 4 }

const strongestIn: Record<RunState, StopKind | undefined> = {
  clear: undefined,
  interrupted: 'user_interrupted',
  aborted: 'user_interrupted',
  siblingErrored: 'sibling_error',
  discarded: 'streaming_fallback',
}

/** A1: of several abort reasons, the strongest so far is reported to the model. */
export const strongestReasonWins: Invariant = {
  name: 'the strongest reason wins',
  check({ calls, runs }) {
    const back = runs.findIndex(({ run }, n) => n > 0 && rank[run] < rank[runs[n - 1]?.run ?? 'clear'])
    if (back > 0) return `the turn went from ${runs[back - 1]?.run} back to ${runs[back]?.run}`
    return firstOf(calls, ({ id, ending, completedAt = 0, results }) => {
      if (ending?.by !== 'abort' || ending.cause.kind === 'withdrawn') return undefined
      const inForce = runs.findLast(({ at }) => at < completedAt)
      const expected = inForce && strongestIn[inForce.run]
      if (expected !== undefined && expected !== ending.cause.kind) {
        return `${id} ended by ${ending.cause.kind}; expected ${expected}`
      }
      const text = results[0]?.text
      const isSibling = text?.includes('Cancelled: parallel tool call') === true
      return text !== undefined && isSibling !== (ending.cause.kind === 'sibling_error')
        ? `${id} ended by ${ending.cause.kind}, but its result says: ${text}`
        : undefined
    })
  },
}
