import { outcomeOf } from '../words.ts'
import type { Run } from './model.ts'
import { isIn, lengthIn, type TimeRange, touchesRange } from './time-range.ts'
import type { TimelineRow } from './timeline-rows.ts'

interface PhaseTotal {
  readonly name: string
  calls: number
  ms: number
}

interface ToolTotal {
  readonly name: string
  calls: number
  /** Executing, without the time in which a person was asked. */
  runs: number
  waits: number
  errors: number
}

interface ModelTotal {
  readonly name: string
  replies: number
  input: number
  output: number
  cached: number
  costUsd: number | undefined
}

/** Where the time of calls went, and what models used, in a part of the time. */
export interface Profile {
  readonly phases: readonly PhaseTotal[]
  readonly tools: readonly ToolTotal[]
  readonly models: readonly ModelTotal[]
}

export function profileOf(rows: readonly TimelineRow[], runs: Iterable<Run>, now: number, range?: TimeRange): Profile {
  const phases = new Map<string, PhaseTotal>()
  const tools = new Map<string, ToolTotal>()
  for (const { call } of rows) {
    if (!touchesRange(range, call)) continue
    const tool = entry(tools, call.name, { name: call.name, calls: 0, runs: 0, waits: 0, errors: 0 })
    tool.calls++
    if (call.yieldedAt !== undefined && outcomeOf(call) !== 'ok') tool.errors++
    const seen = new Set<string>()
    for (const { path, from, to } of call.segments) {
      const [state] = path
      if (state === 'yielded' || state === 'givenUp') continue
      const ms = lengthIn(range, from, to ?? now)
      if (range !== undefined && ms <= 0) continue
      const name = phaseOf(path)
      const phase = entry(phases, name, { name, calls: 0, ms: 0 })
      phase.ms += ms
      if (!seen.has(name)) phase.calls++
      seen.add(name)
      if (state === 'queued') tool.waits += ms
      else if (state === 'executing' && name !== 'asking') tool.runs += ms
    }
  }
  return {
    phases: [...phases.values()].sort((a, b) => b.ms - a.ms),
    tools: [...tools.values()].sort((a, b) => b.runs - a.runs),
    models: modelsOf(runs, range),
  }
}

function modelsOf(runs: Iterable<Run>, range: TimeRange | undefined): ModelTotal[] {
  const models = new Map<string, ModelTotal>()
  for (const { replies } of runs) {
    for (const { model, tokens, costUsd, at } of replies) {
      if (!isIn(range, at)) continue
      const name = model ?? 'unknown model'
      const total = entry(models, name, { name, replies: 0, input: 0, output: 0, cached: 0, costUsd: undefined })
      total.replies++
      total.input += tokens.input + tokens.cacheRead + tokens.cacheWrite
      total.cached += tokens.cacheRead
      total.output += tokens.output
      if (costUsd !== undefined) total.costUsd = (total.costUsd ?? 0) + costUsd
    }
  }
  return [...models.values()].sort((a, b) => b.input + b.output - a.input - a.output)
}

/** Results that are finished and wait for earlier ones are held. A question is time of a person. */
const phaseOf = ([state, phase, inner]: readonly string[]): string => {
  if (state === 'completed') return 'held for order'
  if (state !== 'executing') return state ?? ''
  return inner === 'asking' || inner === 'later' ? 'asking' : (phase ?? 'executing')
}

function entry<Total>(totals: Map<string, Total>, name: string, fresh: Total): Total {
  const found = totals.get(name) ?? fresh
  totals.set(name, found)
  return found
}
