import type { stopPrecedence } from '../../machines/index.ts'
import { checkTranscript } from '../transcript/check-transcript.ts'
import { isBodyAlive } from './evidence-book.ts'
import type { Invariant } from './invariant.ts'
import type { CallEvidence, RunState, TurnEvidence } from './turn-evidence.ts'

const firstOf = <Item>(items: readonly Item[], problemOf: (item: Item) => string | undefined): string | undefined => {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const list = (calls: readonly { readonly id: string }[]): string => calls.map(({ id }) => id).join(', ')

/** From here on nothing starts any more. */
const isClosed = (run: RunState): boolean => run === 'aborted' || run === 'siblingErrored' || run === 'discarded'

/** Y6: each call has exactly one result; after a discard there is no more. */
export const oneResultPerCall: Invariant = {
  name: 'one result per call',
  check({ calls, isOver, run, runs, order }) {
    const known = new Set(calls.map(({ id }) => id))
    const stray = order.find((id) => !known.has(id))
    if (stray !== undefined) return `there is a result for ${stray}, which nobody asked for`
    const discardedAt = runs.find((each) => each.run === 'discarded')?.at ?? Number.POSITIVE_INFINITY
    return firstOf(calls, ({ id, results, phase }) => {
      if (results.length > 1) return `${id} has ${results.length} results`
      if (results.some(({ at }) => at > discardedAt)) return `${id} got a result after the run was discarded`
      const isDue = phase === 'yielded' || (isOver && run !== 'discarded')
      return isDue && results.length === 0 ? `${id} lost its result` : undefined
    })
  },
}

/** Y1: results leave in the order in which the model asked. */
export const emissionOrder: Invariant = {
  name: 'emission order',
  check({ calls, order }) {
    const asked = new Map(calls.map(({ id, index }) => [id, index]))
    const at = order.findIndex((id, n) => n > 0 && (asked.get(id) ?? 0) < (asked.get(order[n - 1] ?? '') ?? 0))
    return at < 0 ? undefined : `${order[at]} was asked before ${order[at - 1]}, and its result came after`
  },
}

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

/** Y2: no progress after the result of its call. */
export const progressBeforeResult: Invariant = {
  name: 'progress before result',
  check: ({ calls }) =>
    firstOf(calls, ({ id, lastProgressAt = 0, results }) =>
      results.some(({ at }) => at < lastProgressAt) ? `${id} reported progress after its result` : undefined,
    ),
}

/** Y2: no progress is lost, except what readers were told of. */
export const everyProgressArrives: Invariant = {
  name: 'every progress arrives',
  check: ({ calls, run }) =>
    firstOf(calls, ({ id, body, progressRead, progressDropped, results }) => {
      const got = progressRead + progressDropped
      if (body === undefined || run === 'discarded') return undefined
      if (got > body.reported) return `${id} reported ${body.reported} times, and readers got ${got}`
      return results.length > 0 && got < body.reported
        ? `${id} reported ${body.reported} times, and readers heard of ${got}`
        : undefined
    }),
}

/** Nothing is left when a turn is over: no body, no closed gate, and nothing of the world around. */
export const nothingLeftBehind: Invariant = {
  name: 'nothing left behind',
  check({ calls, isOver, gate, run, leftovers }) {
    if (!isOver) return undefined
    const stopping = calls.filter((call) => call.phase.startsWith('executing'))
    if (run !== 'discarded' && stopping.length > 0) return `${list(stopping)} still executes`
    if (stopping.length === 0 && gate !== 'open') return `nothing runs, and the gate is ${gate}`
    return stopping.length === 0 && leftovers.length > 0 ? leftovers.join('; ') : undefined
  },
}

/** L8: with its results, the reply is something that the API takes. */
export const transcriptValid: Invariant = {
  name: 'transcript valid',
  check({ calls, messages, isOver, run }) {
    if (!isOver || run === 'discarded' || calls.length === 0) return undefined
    const content = calls.map(({ id, name }) => ({ type: 'tool_use', id, name: name || 'unnamed', input: {} }))
    const reply = { type: 'assistant', uuid: 'reply', message: { id: 'reply', role: 'assistant', content } }
    const user = { type: 'user', uuid: 'user', timestamp: '', message: { role: 'user', content: 'go' } }
    const checked = checkTranscript([user, reply, ...messages])
    return checked.ok ? undefined : checked.problems.map(({ code }) => code).join(', ')
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
          const isStopping = phase === 'executing.stopping' && ending === undefined && !hasTimedOut(call)
          return isStopping ? `${id} does not stop at interrupts, and was told to` : undefined
        }),
}

const hasTimedOut = ({ body }: CallEvidence): boolean => body?.signal.reason === 'timeout'

const rank: Record<RunState, number> = { clear: 0, interrupted: 1, aborted: 2, siblingErrored: 3, discarded: 4 }
const strongestIn: Record<RunState, (typeof stopPrecedence)[number] | undefined> = {
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

/** A7: who came to an end without having been told to stop keeps what it has. */
export const ownOutcomeStands: Invariant = {
  name: "a call's own outcome stands",
  check: ({ calls }) =>
    firstOf(calls, ({ id, body, ending }) =>
      body?.outcome !== undefined && !body.outcome.wasTold && ending?.by === 'abort' && ending.reached !== 'underWay'
        ? `${id} had ended by itself, and was given another result`
        : undefined,
    ),
}

/** Y4: a reader that sleeps has nothing to read. */
export const readersAreWoken: Invariant = {
  name: 'readers are woken',
  check(turn: TurnEvidence) {
    if (turn.sleepingReaders === 0) return undefined
    if (turn.isOver) return 'everything is over, and a reader still waits'
    const next = turn.calls.find(({ phase }) => phase !== 'yielded')
    return next?.phase === 'completed' ? `the result of ${next.id} is ready, and a reader still waits` : undefined
  },
}

/** What has to hold of every turn, whatever the tools do. */
export const turnInvariants: readonly Invariant[] = [
  oneResultPerCall,
  emissionOrder,
  exclusivity,
  noOvertaking,
  gateSaysWhoRuns,
  noStartAfterAbort,
  progressBeforeResult,
  everyProgressArrives,
  nothingLeftBehind,
  transcriptValid,
  denyMeansNeverRun,
  nobodyWaitsForNothing,
  abortReachesAll,
  interruptSparesOthers,
  strongestReasonWins,
  ownOutcomeStands,
  readersAreWoken,
]
