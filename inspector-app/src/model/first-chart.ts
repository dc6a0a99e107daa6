import type { ChartDefinition } from '../../../src/inspect/index.ts'
import type { State } from '../store.ts'
import type { Actor, Cast, Model, Run } from './model.ts'

/** The first chart, and its owner. */
export interface FirstChart {
  readonly kind: 'executor' | 'query' | 'server'
  readonly title: string
  readonly cast: Cast
  readonly actor: Actor | undefined
  readonly chart: ChartDefinition | undefined
}

/** The selected chart if it exists, else the executor's, else a server's. */
export function firstChart({ first }: State, model: Model, run: Run | undefined): FirstChart | undefined {
  const asked = typeof first === 'number' ? model.servers.get(first) : undefined
  const server = asked ?? (run === undefined ? model.servers.values().next().value : undefined)
  if (server !== undefined) return { kind: 'server', title: `Server ${server.name}`, ...partOf(server, server.root) }
  if (run === undefined) return undefined
  if (first === 'query' && run.queryActor !== undefined)
    return { kind: 'query', title: 'Query', ...partOf(run, run.queryActor) }
  return { kind: 'executor', title: 'Executor', ...partOf(run, run.root) }
}

function partOf(cast: Cast, id: string): Pick<FirstChart, 'cast' | 'actor' | 'chart'> {
  const actor = cast.actors.get(id)
  return { cast, actor, chart: cast.charts.get(actor?.chart ?? '') }
}
