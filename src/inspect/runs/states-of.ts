import type { ChartDefinition } from '../chart-definition.ts'

/** The names of the active states below the root, from the outside in; regions follow one another. */
export function statesOf(chart: ChartDefinition | undefined, active: readonly number[]): readonly string[] {
  if (chart === undefined) return []
  const isActive = new Set(active)
  return chart.nodes.filter(({ id, parent }) => parent !== null && isActive.has(id)).map(({ key }) => key)
}
