import type { ChartDefinition } from '../../../src/inspect/index.ts'

const paths = new WeakMap<ChartDefinition, Map<string, readonly string[]>>()

/** The names of the active states below the root, from the outside in. Regions follow one another. */
export function pathOf(chart: ChartDefinition | undefined, active: readonly number[]): readonly string[] {
  if (chart === undefined) return []
  const known = paths.get(chart) ?? new Map<string, readonly string[]>()
  paths.set(chart, known)
  const key = active.join()
  const found = known.get(key)
  if (found !== undefined) return found
  const isActive = new Set(active)
  const path = chart.nodes.filter(({ id, parent }) => parent !== null && isActive.has(id)).map(({ key }) => key)
  known.set(key, path)
  return path
}
