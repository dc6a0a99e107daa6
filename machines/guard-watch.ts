import type { ActorSystem, AnyActorRef, AnyEventObject, AnyTransitionDefinition } from 'xstate'

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

export function tellGuardWatchers(
  system: unknown,
  actor: AnyActorRef,
  event: AnyEventObject,
  regions: readonly (readonly AnyTransitionDefinition[])[],
  taken: readonly AnyTransitionDefinition[],
): void {
  if (watchers.size === 0) return
  for (const watcher of watchers.get(system) ?? []) watcher(actor, event, regions, taken)
}
