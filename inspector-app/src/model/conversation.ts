import type { Said } from '../../../src/inspect/index.ts'
import type { Call, Model, Run } from './model.ts'

/** A turn with what was said and asked for in it, in order. */
export interface Turn {
  readonly run: Run
  readonly items: readonly TurnItem[]
  readonly totals: Totals
}

type TurnItem =
  | { readonly kind: 'said'; readonly said: Said }
  | { readonly kind: 'call'; readonly call: Call; readonly agents: readonly Run[] }

export interface Totals {
  readonly calls: number
  readonly tokens: number
  /** Of the tokens, those that were read from a cache. */
  readonly cached: number
  /** Undefined if no reply has a price. */
  readonly costUsd: number | undefined
}

/** The turns that belong to no call of another run, oldest first. */
export const turnsOf = ({ runs }: Model): Run[] =>
  [...runs.values()].filter(({ parentToolUseID }) => parentToolUseID === undefined)

/** The number of each run's turn: the rest of a turn has that of its beginning, a discarded attempt that of the next one. */
export function turnNumbers(turns: readonly Run[]): number[] {
  let whole = 0
  return turns.map(({ isContinued, isDiscarded }) => {
    const number = isContinued && whole > 0 ? whole : whole + 1
    whole = isDiscarded ? number - 1 : number
    return number
  })
}

/** The runs of sub-agents, by the call that they work for. */
export function agentsByCall({ runs }: Model): ReadonlyMap<string, Run[]> {
  const found = new Map<string, Run[]>()
  for (const run of runs.values()) {
    if (run.parentToolUseID === undefined) continue
    const known = found.get(run.parentToolUseID)
    if (known === undefined) found.set(run.parentToolUseID, [run])
    else known.push(run)
  }
  return found
}

/** The runs of the agents of these calls, and of their agents. A recording may come from anyone: a circle ends. */
export function agentRuns(
  calls: Iterable<string>,
  agents: ReadonlyMap<string, readonly Run[]>,
  seen = new Set<Run>(),
): Run[] {
  if (agents.size === 0) return []
  const found: Run[] = []
  for (const id of calls) {
    for (const run of agents.get(id) ?? []) {
      if (seen.has(run)) continue
      seen.add(run)
      found.push(run, ...agentRuns(run.byId.keys(), agents, seen))
    }
  }
  return found
}

/** The run around all others: the turn of the conversation. */
export function outermostRun(runs: ReadonlyMap<number, Run>, inner: Run): Run {
  const all = [...runs.values()]
  let run = inner
  // ids may repeat: the newest run before it that has such a call
  for (let at = all.indexOf(run) - 1; at >= 0 && run.parentToolUseID !== undefined; at--) {
    const outer = all[at]
    if (outer?.byId.has(run.parentToolUseID) === true) run = outer
  }
  return run
}

export function turnOf(run: Run, agents: ReadonlyMap<string, readonly Run[]>): Turn {
  const items: (TurnItem & { seq: number })[] = [
    ...run.said.map((said) => ({ kind: 'said', said, seq: said.seq }) as const),
    ...run.calls.map((call) => ({ kind: 'call', call, agents: agents.get(call.id) ?? [], seq: call.seq }) as const),
  ]
  // a reply is told when its block is complete, which may be after its calls began
  return { run, items: items.sort((a, b) => a.seq - b.seq), totals: totalsOf([run]) }
}

export function totalsOf(runs: Iterable<Run>): Totals {
  let [calls, tokens, cached, cost, hasCost] = [0, 0, 0, 0, false]
  const last = new Map<string | undefined, Run>()
  for (const run of runs) {
    const before = run.isContinued ? last.get(run.parentToolUseID) : undefined
    // a continued turn has the calls of its first part again
    calls += before === undefined ? run.calls.length : run.calls.filter(({ id }) => !before.byId.has(id)).length
    last.set(run.parentToolUseID, run)
    for (const { tokens: each, costUsd } of run.replies) {
      tokens += each.input + each.output + each.cacheRead + each.cacheWrite
      cached += each.cacheRead
      cost += costUsd ?? 0
      hasCost ||= costUsd !== undefined
    }
  }
  return { calls, tokens, cached, costUsd: hasCost ? cost : undefined }
}

/** Whether there is a conversation to show, and not one executor alone. */
export function isConversation({ runs }: Model): boolean {
  if (runs.size > 1) return true
  const [run] = runs.values()
  return run !== undefined && run.said.length > 0
}
