import type { ActorSystem, AnyActorRef, AnyEventObject, AnyTransitionDefinition } from 'xstate'
import type { ChartStep } from './chart-step.ts'
import type { Regions } from './chart-table.ts'

/**
 * Hears which transitions a chart considered, region by region, and which it takes. Of a region's candidates those
 * before the taken one were asked and refused, those behind it were not asked.
 */
export type GuardWatcher = (
  actor: AnyActorRef,
  event: AnyEventObject,
  regions: readonly (readonly AnyTransitionDefinition[])[],
  taken: readonly AnyTransitionDefinition[],
) => void

type System = ActorSystem<never>

/** Empty unless somebody looks on, and then the charts pay one reading of its size per step. */
const watchers = new Map<unknown, readonly GuardWatcher[]>()

/** Watches every chart of a system that runs from a table. Returns how to stop. */
export function watchGuards(system: System, watcher: GuardWatcher): () => void {
  watchers.set(system, [...(watchers.get(system) ?? []), watcher])
  return () => {
    const rest = (watchers.get(system) ?? []).filter((each) => each !== watcher)
    if (rest.length === 0) watchers.delete(system)
    else watchers.set(system, rest)
  }
}

export const guardsAreWatched = (): boolean => watchers.size > 0

type Considered = readonly (readonly AnyTransitionDefinition[])[]

/** The same list for the same question, so that a watcher can tell that it is. */
const considered = new WeakMap<Regions, Considered>()

export function tellGuardWatchers({ self, system, event, taken }: ChartStep, regions: Regions): void {
  const heard = watchers.get(system)
  if (heard === undefined) return
  const candidates = considered.get(regions) ?? regions.map((moves) => moves.map(({ transition }) => transition))
  considered.set(regions, candidates)
  for (const watcher of heard) watcher(self, event, candidates, taken)
}
