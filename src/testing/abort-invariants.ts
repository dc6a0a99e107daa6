import type { StopKind } from '../../machines/index.ts'
import { isBodyAlive } from './evidence-book.ts'
import { firstOf } from './first-of.ts'
import type { Invariant } from './invariant.ts'
import { isClosed } from './is-closed.ts'
import type { RunState } from './turn-evidence.ts'

/** A2, A4, A5: what was told to stop, or came after everything was, does not begin. */
export const noStartAfterAbort: Invariant = {
  name: 'no start after an abort',
  check({ calls, runs }) {
    const closedAt = runs.find(({ run }) => isClosed(run))?.at ?? Number.POSITIVE_INFINITY
    return firstOf(calls, ({ id, starts, toldAt = Number.POSITIVE_INFINITY, completedAt = Number.POSITIVE_INFINITY }) =>
      firstOf(starts, ({ at }) => {
        if (at > completedAt) return `${id} began after it was over`
        if (at > toldAt) return `${id} began after it was told to stop`
        return at > closedAt ? `${id} began after the turn was stopped` : undefined
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
  'executing.calling',
  'executing.retrying',
])

/** A2, A3, A4, A5: an abort reaches every call that it is meant for, down to the signal of its body. */
export const abortReachesAll: Invariant = {
  name: 'an abort reaches all',
  check({ calls, run }) {
    if (run === 'clear') return undefined
    return firstOf(calls, (call) => {
      const { id, phase, stopsAtInterrupt, body } = call
      const isMeant = isClosed(run) || stopsAtInterrupt
      if (!isMeant) return undefined
      if (stillGoesOn.has(phase)) return `the turn is ${run}, and ${id} is ${phase} as if nothing had happened`
      const isDeaf = body !== undefined && isBodyAlive(call) && !body.signal.aborted
      return isDeaf && phase === 'executing.stopping' ? `${id} is to stop, and its signal says nothing` : undefined
    })
  },
}

/** A3: an interrupt leaves those alone that do not stop at one. */
export const interruptSparesOthers: Invariant = {
  name: 'an interrupt spares the others',
  check: ({ calls, run }) =>
    run !== 'interrupted'
      ? undefined
      : firstOf(calls, (call) => {
          const { id, stopsAtInterrupt, phase, ending } = call
          if (stopsAtInterrupt) return undefined
          const wasCut =
            ending?.by === 'abort' && ending.cause.kind === 'user_interrupted' && ending.reached === 'notStarted'
          if (wasCut) return `${id} does not stop at interrupts, and never started because of one`
          const isStopping = phase === 'executing.stopping' && ending === undefined && !call.hasTimedOut
          return isStopping ? `${id} does not stop at interrupts, and was told to` : undefined
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

/** A1: of several reasons to stop, the strongest so far is the one that the model hears. */
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
        return `${id} ended by ${ending.cause.kind}, though ${expected} was in force`
      }
      const text = results[0]?.text
      const isSibling = text?.includes('Cancelled: parallel tool call') === true
      return text !== undefined && isSibling !== (ending.cause.kind === 'sibling_error')
        ? `${id} ended by ${ending.cause.kind}, and its result says: ${text}`
        : undefined
    })
  },
}
