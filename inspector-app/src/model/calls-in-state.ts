import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { Call, Run } from './model.ts'

/** The calls of a run by the state of their chart that they are in, states inside of others included. */
export function callsByState(run: Run, chart: ChartDefinition | undefined): ReadonlyMap<number, readonly Call[]> {
  const found = new Map<number, Call[]>()
  if (chart === undefined) return found
  for (const call of run.calls) {
    const actor = run.actors.get(call.actor)
    if (actor?.chart !== chart.id) continue
    for (const state of actor.active) {
      const calls = found.get(state)
      if (calls === undefined) found.set(state, [call])
      else calls.push(call)
    }
  }
  return found
}

/** The calls that an executor runs in the lane of its gate's state. */
export function callsOfGate(run: Run, key: string): readonly Call[] {
  if (key === 'open') return []
  const executing = [...run.executing].flatMap((id) => run.byId.get(id) ?? [])
  return key === 'shared' || key === 'exclusive' ? executing.filter(({ lane }) => lane === key) : executing
}
