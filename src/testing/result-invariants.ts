import { checkTranscript } from '../transcripts/check-transcript.ts'
import { firstOf, type Invariant, list } from './invariant.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/** Y6: each call has exactly one result; after a discard there are no results. */
export const oneResultPerCall: Invariant = {
  name: 'one result per call',
  check({ calls, isOver, run, runs, order }) {
    const known = new Set(calls.map(({ id }) => id))
    const stray = order.find((id) => !known.has(id))
    if (stray !== undefined) return `result for unknown call ${stray}`
    const discardedAt = runs.find((each) => each.run === 'discarded')?.at ?? Number.POSITIVE_INFINITY
    return firstOf(calls, ({ id, results, phase }) => {
      if (results.length > 1) return `${id} has ${results.length} results`
      if (results.some(({ at }) => at > discardedAt)) return `${id} got a result after the run was discarded`
      const isDue = phase === 'yielded' || (isOver && run !== 'discarded')
      return isDue && results.length === 0 ? `${id} has no result` : undefined
    })
  },
}

/** Y1: results are handed over in emission order. */
export const emissionOrder: Invariant = {
  name: 'emission order',
  check({ calls, order }) {
    const asked = new Map(calls.map(({ id, index }) => [id, index]))
    const at = order.findIndex((id, n) => n > 0 && (asked.get(id) ?? 0) < (asked.get(order[n - 1] ?? '') ?? 0))
    return at < 0 ? undefined : `${order[at]} was requested before ${order[at - 1]}, but its result came after`
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

/** Y2: no progress is lost, except reports that readers were told were dropped. */
export const everyProgressArrives: Invariant = {
  name: 'every progress arrives',
  isLiveOnly: true,
  check: ({ calls, run }) =>
    firstOf(calls, ({ id, body, progressRead, progressDropped, results }) => {
      const got = progressRead + progressDropped
      if (body === undefined || run === 'discarded') return undefined
      if (got > body.reported) return `${id} reported ${body.reported} times, but readers got ${got} reports`
      return results.length > 0 && got < body.reported
        ? `${id} reported ${body.reported} times, but readers got or were told of ${got}`
        : undefined
    }),
}

/** Nothing is left behind when a turn is over: no body, no closed gate, no timer or listener. */
export const nothingLeftBehind: Invariant = {
  name: 'nothing left behind',
  check({ calls, isOver, gate, run, leftovers }) {
    if (!isOver) return undefined
    const stopping = calls.filter((call) => call.phase.startsWith('executing'))
    if (run !== 'discarded' && stopping.length > 0) return `${list(stopping)} still executes`
    if (stopping.length === 0 && gate !== 'open') return `nothing runs, but the gate is ${gate}`
    return stopping.length === 0 && leftovers.length > 0 ? leftovers.join('; ') : undefined
  },
}

/** L8: the reply with its results is valid for the API. */
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

/** A7: a call that ended by itself, without an abort, keeps its result. */
export const ownOutcomeStands: Invariant = {
  name: "a call's own outcome stands",
  isLiveOnly: true,
  check: ({ calls }) =>
    firstOf(calls, ({ id, body, ending }) =>
      body?.outcome !== undefined && !body.outcome.wasTold && ending?.by === 'abort' && ending.reached !== 'underWay'
        ? `${id} ended by itself, but its result was replaced`
        : undefined,
    ),
}

/** Y4: no reader sleeps while a message is ready. */
export const readersAreWoken: Invariant = {
  name: 'readers are woken',
  isLiveOnly: true,
  check(turn: TurnEvidence) {
    if (turn.sleepingReaders === 0) return undefined
    if (turn.isOver) return 'the turn is over, but a reader still waits'
    const next = turn.calls.find(({ phase }) => phase !== 'yielded')
    return next?.phase === 'completed' ? `the result of ${next.id} is ready, but a reader still waits` : undefined
  },
}
