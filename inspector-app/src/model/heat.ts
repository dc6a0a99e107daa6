import { type ChartDefinition, type CoverageFile, transitionNames } from '../../../src/inspect/index.ts'

/** How often each part of a chart was taken. */
export interface Heat {
  /** By transition number. */
  readonly counts: readonly number[]
  /** How often each state was entered, by state number. */
  readonly entered: ReadonlyMap<number, number>
  /** Initial states, which are entered without a transition. */
  readonly first: ReadonlySet<number>
  readonly most: number
  readonly taken: number
  readonly never: readonly string[]
}

const known = new WeakMap<readonly number[], { chart: ChartDefinition; sum: number; heat: Heat }>()

/** Cached per counts. */
export function heatOf(chart: ChartDefinition, counts: readonly number[]): Heat {
  const sum = counts.reduce((all, count) => all + count, 0)
  const found = known.get(counts)
  if (found !== undefined && found.chart === chart && found.sum === sum) return found.heat
  const names = transitionNames(chart)
  const heat: Heat = {
    counts,
    entered: entriesOf(chart, counts),
    first: firstOf(chart),
    most: Math.max(0, ...counts),
    taken: counts.filter((count) => count > 0).length,
    never: names.filter((_, index) => (counts[index] ?? 0) === 0),
  }
  known.set(counts, { chart, sum, heat })
  return heat
}

/** The counts of a file for this chart, matched by name: the file may come from another version. */
export function countsIn(file: CoverageFile, chart: ChartDefinition): readonly number[] | undefined {
  const saved = file.charts.find((each) => each.chart.id === chart.id)
  if (saved === undefined) return undefined
  const byName =
    fileNames.get(saved.counts) ??
    new Map(transitionNames(saved.chart).map((name, at) => [name, saved.counts[at] ?? 0]))
  fileNames.set(saved.counts, byName)
  const cached = fitted.get(chart)
  if (cached?.saved === saved.counts) return cached.counts
  const counts = transitionNames(chart).map((name) => byName.get(name) ?? 0)
  fitted.set(chart, { saved: saved.counts, counts })
  return counts
}

const fileNames = new WeakMap<readonly number[], Map<string, number>>()
const fitted = new WeakMap<ChartDefinition, { saved: readonly number[]; counts: readonly number[] }>()

function firstOf({ nodes }: ChartDefinition): Set<number> {
  const first = new Set(nodes.flatMap(({ id, parent }) => (parent === null ? [id] : [])))
  // iterating a Set includes items added during the loop
  for (const id of first) {
    for (const node of nodes) {
      const around = nodes.find((each) => each.id === id)
      if (node.parent === id && (around?.kind === 'parallel' || around?.initial === node.id)) first.add(node.id)
    }
  }
  return first
}

/** Entering a state also enters the ancestors that were left and its initial children. */
function entriesOf({ nodes, transitions }: ChartDefinition, counts: readonly number[]): Map<number, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const around = (id: number): Set<number> => {
    const ids = new Set<number>()
    for (let at = byId.get(id); at !== undefined && !ids.has(at.id); at = byId.get(at.parent ?? -1)) ids.add(at.id)
    return ids
  }
  const entered = new Map<number, number>()
  for (const { id, source, targets } of transitions) {
    const count = counts[id] ?? 0
    const before = around(source)
    for (const target of count === 0 ? [] : targets) {
      const reached = new Set([...around(target)].filter((each) => !before.has(each) || each === target))
      for (
        let first = byId.get(target)?.initial;
        first != null && !reached.has(first);
        first = byId.get(first)?.initial
      )
        reached.add(first)
      for (const each of reached) entered.set(each, (entered.get(each) ?? 0) + count)
    }
  }
  return entered
}

export const heatSteps = 5

/** From 0 (never) to 5 (most often), on a logarithmic scale. */
export function levelOf(count: number, most: number): number {
  if (count <= 0) return 0
  if (most <= 1) return heatSteps
  return 1 + Math.round(((heatSteps - 1) * Math.log(count)) / Math.log(Math.max(most, count)))
}
