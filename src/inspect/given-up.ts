import type { ChartDefinition } from './chart-definition.ts'

/** What is said of a call whose run was discarded: nothing of it leaves any more, whatever it did. */
export const givenUp = { short: 'given up', long: 'given up with the reply that asked for it' } as const

/** Whether an executor in these states was discarded: asked of the chart, since a cause may be an older one. */
export function isDiscarded(chart: ChartDefinition | undefined, active: readonly number[]): boolean {
  return chart?.nodes.some(({ id, key }) => key === 'discarded' && active.includes(id)) === true
}
