import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { Actor, Call, Run } from './model.ts'

/** The chart of a call in the background, in the state that its status tells. Older recordings do not have it. */
export function backgroundActor(run: Run, call: Call): { chart: ChartDefinition; actor: Actor } | undefined {
  const chart = run.charts.get('background')
  const { detached } = call
  if (chart === undefined || detached === undefined) return undefined
  const { id, status, fate } = detached
  const key = fate ?? (status === 'running' || status === 'stopping' ? status : 'finished')
  const active = chart.nodes.flatMap((node) => (node.key === key || node.parent === null ? [node.id] : []))
  const actor: Actor = {
    ...{ id, chart: chart.id, parent: null, active, isDone: fate !== undefined },
    ...{ context: {}, changes: [], ledger: [], taken: new Map(), last: undefined },
  }
  return { chart, actor }
}
