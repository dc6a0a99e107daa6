import type { ChartDefinition } from '../../inspect/index.ts'

/** The name of the active state that has no active state inside it. */
export function innermostState(chart: ChartDefinition | undefined, active: readonly number[]): string {
  const nodes = chart?.nodes.filter(({ id }) => active.includes(id)) ?? []
  const parents = new Set(nodes.map(({ parent }) => parent))
  return nodes.findLast(({ id }) => !parents.has(id))?.key ?? ''
}
