import type { ChartDefinition } from '../frames/chart-definition.ts'

/** The active states of a chart by name. */
export interface ActiveStates {
  /** Below the root, from the outside in; regions follow one another. */
  readonly names: readonly string[]
  /** Each innermost state with the states around it, such as `executing.permission.asking`. */
  readonly paths: readonly string[]
  /** The last state that has no active state inside it; empty where nothing is active. */
  readonly innermost: string
  /** The same, but `calling` wherever the body runs. */
  readonly phase: string
}

const none: ActiveStates = { names: [], paths: [], innermost: '', phase: '' }

/** Cached: a chart has few combinations of active states, and a recording repeats them. */
const known = new WeakMap<ChartDefinition, Map<string, ActiveStates>>()

export function activeStates(chart: ChartDefinition | undefined, active: readonly number[]): ActiveStates {
  if (chart === undefined) return none
  const ofChart = known.get(chart) ?? new Map<string, ActiveStates>()
  known.set(chart, ofChart)
  const key = active.join()
  const found = ofChart.get(key) ?? workOut(chart, new Set(active))
  ofChart.set(key, found)
  return found
}

function workOut({ nodes }: ChartDefinition, isActive: ReadonlySet<number>): ActiveStates {
  const on = nodes.filter(({ id }) => isActive.has(id))
  const around = new Set(on.map(({ parent }) => parent))
  const innermost = on.filter(({ id }) => !around.has(id))
  // in a hostile recording two states can be inside each other: stop at the number of states
  const pathOf = (id: number, depth = 0): string[] => {
    const node = depth > nodes.length ? undefined : nodes.find((each) => each.id === id)
    return node === undefined || node.parent === null ? [] : [...pathOf(node.parent, depth + 1), node.key]
  }
  const names = on.filter(({ parent }) => parent !== null).map(({ key }) => key)
  const last = innermost.at(-1)?.key ?? ''
  return {
    names,
    paths: innermost.map(({ id }) => pathOf(id).join('.')),
    innermost: last,
    phase: names.includes('calling') ? 'calling' : last,
  }
}
