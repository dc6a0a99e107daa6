import { duration } from '../words.ts'
import { agentOf, agentsByCall, turnNumbers, turnsOf } from './conversation.ts'
import type { Call, Model, Run } from './model.ts'

export interface TimelineRow {
  readonly run: Run
  readonly call: Call
  /** How many agents it is inside of. */
  readonly depth: number
}

/** The common start of the names, which may be left out: `src/components/` of a list of paths. */
export function commonStart(labels: readonly string[]): number {
  const texts = labels.map((label) => label.replace(/^[^(]*\(/, ''))
  const [first = ''] = texts
  if (texts.length < 2) return 0
  let length = first.length
  for (const text of texts) {
    let same = 0
    while (same < length && same < text.length && text[same] === first[same]) same++
    length = same
  }
  // whole folders only
  return first.slice(0, length).lastIndexOf('/') + 1
}

/** A turn as a part of the time. */
export interface TimelineBand {
  readonly label: string
  readonly from: number
  readonly to: number | undefined
}

export const rowsOfTurn = (run: Run): TimelineRow[] => run.calls.map((call) => ({ run, call, depth: 0 }))

/** The calls of all turns, those of an agent below the call that started it. */
export function rowsOfAll(model: Model): TimelineRow[] {
  const agents = agentsByCall(model)
  const seen = new Set<Run>()
  const below = (run: Run, depth: number): TimelineRow[] => {
    // a recording may come from anyone: a circle ends
    if (seen.has(run)) return []
    seen.add(run)
    return run.calls.flatMap((call) => [
      { run, call, depth },
      ...agentOf(agents, run, call.id).flatMap((agent) => below(agent, depth + 1)),
    ])
  }
  return turnsOf(model).flatMap((run) => below(run, 0))
}

/** The time from the start of a turn to its first call, or to the end of its reply, is the model's. */
function turnLabel(turns: readonly Run[], numbers: readonly (number | undefined)[], at: number): string {
  const { startedAt, calls, replies } = turns[at] as Run
  if (numbers[at] === undefined) return 'no reply'
  const until = calls[0]?.addedAt ?? replies[0]?.at
  return until === undefined ? `turn ${numbers[at]}` : `turn ${numbers[at]}: model ${duration(until - startedAt)}`
}

export function bandsOf(model: Model): TimelineBand[] {
  const turns = turnsOf(model)
  const numbers = turnNumbers(turns)
  return turns.map(({ startedAt }, at) => ({
    label: turnLabel(turns, numbers, at),
    from: startedAt,
    to: turns[at + 1]?.startedAt,
  }))
}
