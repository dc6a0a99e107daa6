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

/** Its recording or its query has ended. */
export const isOver = ({ isWatched, queryActor, actors }: Run): boolean =>
  !isWatched || actors.get(queryActor ?? '')?.isDone === true

/** A message to which no reply came, or a note: no turn. */
export function isUnanswered(run: Run): boolean {
  const { calls, replies, said, isContinued } = run
  const isSilent =
    calls.length === 0 && replies.length === 0 && !said.some(({ by }) => by === 'model' || by === 'thought')
  return isSilent && !isContinued && isOver(run)
}

/**
 * The number of each run's turn: the rest of a turn has that of its beginning, a discarded attempt that of the next one.
 * A message without a reply has none.
 */
export function turnNumbers(turns: readonly Run[]): (number | undefined)[] {
  let whole = 0
  return turns.map((run, at) => {
    // the reply to it may be in the rest of the turn
    if (isUnanswered(run) && turns[at + 1]?.isContinued !== true) return undefined
    const number = run.isContinued && whole > 0 ? whole : whole + 1
    whole = run.isDiscarded ? number - 1 : number
    return number
  })
}

/** The runs whose reply does not count: it was discarded, perhaps only by the rest of its turn in a later process. */
export function discardedRuns(turns: readonly Run[]): ReadonlySet<Run> {
  const found = new Set<Run>()
  let isRestDiscarded = false
  for (const run of turns.toReversed()) {
    if (run.isDiscarded || isRestDiscarded) found.add(run)
    isRestDiscarded = run.isContinued && found.has(run)
  }
  return found
}

/** The number of the last turn, which is how many there are. */
export const turnCount = (numbers: readonly (number | undefined)[]): number =>
  numbers.findLast((number) => number !== undefined) ?? 0

/** The runs of agents, by the run and the call that they work for. Ids of calls may repeat in other runs. */
export type Agents = ReadonlyMap<string, readonly Run[]>

const keyOf = (run: number, call: string): string => `${run} ${call}`

export function agentsByCall({ runs }: Model): Agents {
  const found = new Map<string, Run[]>()
  for (const run of runs.values()) {
    const { parentRun, parentToolUseID } = run
    if (parentRun === undefined || parentToolUseID === undefined) continue
    const key = keyOf(parentRun, parentToolUseID)
    const known = found.get(key)
    if (known === undefined) found.set(key, [run])
    else known.push(run)
  }
  return found
}

/** The runs of the agent of a call. */
export const agentOf = (agents: Agents, { id }: Run, call: string): readonly Run[] => agents.get(keyOf(id, call)) ?? []

/** The runs of all agents inside these runs. A recording may come from anyone: a circle ends. */
export function agentRuns(runs: Iterable<Run>, agents: Agents, seen = new Set(runs)): Run[] {
  if (agents.size === 0) return []
  const found: Run[] = []
  for (const outer of runs) {
    for (const call of outer.byId.keys()) {
      for (const run of agentOf(agents, outer, call)) {
        if (seen.has(run)) continue
        seen.add(run)
        found.push(run, ...agentRuns([run], agents, seen))
      }
    }
  }
  return found
}

/** The run around all others: the turn of the conversation. */
export function outermostRun(runs: ReadonlyMap<number, Run>, inner: Run): Run {
  const seen = new Set<Run>()
  let run = inner
  while (!seen.has(run)) {
    seen.add(run)
    run = runs.get(run.parentRun ?? -1) ?? run
  }
  return run
}

export function turnOf(run: Run, agents: Agents): Turn {
  const items: (TurnItem & { seq: number })[] = [
    ...run.said.map((said) => ({ kind: 'said', said, seq: said.seq }) as const),
    ...run.calls.map((call) => ({ kind: 'call', call, agents: agentOf(agents, run, call.id), seq: call.seq }) as const),
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
