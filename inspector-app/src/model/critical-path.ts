import type { Call } from './model.ts'
import type { TimelineRow } from './timeline-rows.ts'

/** A call on the critical path, and the time for which the end of everything depended on it. */
export interface CriticalStep {
  readonly call: Call
  readonly from: number
  readonly to: number
}

/** Times of one moment may differ by the duration of a step. */
const slackMs = 2

/**
 * The chain of calls that decided when the work ended, first one first. It starts from the call that ended last. Before
 * a call comes the one whose end let it start; if it did not wait, the last one that ended before the model asked for it.
 */
export function criticalPath(rows: readonly TimelineRow[]): CriticalStep[] {
  // the calls of agents happen inside of the call that started them
  const calls = rows
    .filter(({ depth }) => depth === 0)
    .flatMap(({ call }) => (call.startedAt === undefined || call.completedAt === undefined ? [] : [timesOf(call)]))
    .sort((a, b) => a.end - b.end)
  const path: CriticalStep[] = []
  let at = calls.length - 1
  while (at >= 0) {
    const { call, start, end, asked } = calls[at] as Times
    path.push({ call, from: start, to: end })
    const hasWaited = start - asked > slackMs
    const until = (hasWaited ? start : asked) + slackMs
    // sorted by their ends, so the one that let it start is the last that ended before
    let before = at - 1
    while (before >= 0 && (calls[before] as Times).end > until) before--
    at = before
  }
  return path.reverse()
}

interface Times {
  readonly call: Call
  readonly asked: number
  readonly start: number
  readonly end: number
}

const timesOf = (call: Call): Times => ({
  call,
  asked: call.addedAt,
  start: call.startedAt as number,
  end: call.completedAt as number,
})
