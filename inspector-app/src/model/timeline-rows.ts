import { agentsByCall, turnsOf } from './conversation.ts'
import type { Call, Model, Run } from './model.ts'

export interface TimelineRow {
  readonly run: Run
  readonly call: Call
  /** How many agents it is inside of. */
  readonly depth: number
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
      ...(agents.get(call.id) ?? []).flatMap((agent) => below(agent, depth + 1)),
    ])
  }
  return turnsOf(model).flatMap((run) => below(run, 0))
}

export function bandsOf(model: Model): TimelineBand[] {
  const turns = turnsOf(model)
  return turns.map(({ startedAt }, at) => ({
    label: `turn ${at + 1}`,
    from: startedAt,
    to: turns[at + 1]?.startedAt,
  }))
}
