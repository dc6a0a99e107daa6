import type { ActorSystem, AnyActorRef, AnyEventObject, AnyTransitionDefinition } from 'xstate'
import type { ChartStep } from './chart-step.ts'
import { isBranch, type Moves, type Selection } from './configuration.ts'

/**
 * Receives the transitions that a chart considered, by region, and the transitions that it takes. Of a region's
 * candidates, the guards before the taken one returned false, and those after it were not called.
 */
export type GuardWatcher = (
  actor: AnyActorRef,
  event: AnyEventObject,
  regions: readonly (readonly AnyTransitionDefinition[])[],
  taken: readonly AnyTransitionDefinition[],
) => void

type System = ActorSystem<never>

/** Empty unless a watcher is registered; then each step pays only for reading its size. */
const watchers = new Map<unknown, readonly GuardWatcher[]>()

/** Watches every chart of a system that runs from a table. Returns a function that stops watching. */
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

/** Returns the same list for the same candidates, so that a watcher can compare by identity. */
const considered = new WeakMap<object, Considered>()

/** `asked`: what could answer an event, or the eventless moves from each innermost state. */
export function tellGuardWatchers(
  { scope, event }: ChartStep,
  asked: Selection | readonly Moves[],
  taken: readonly AnyTransitionDefinition[],
): void {
  const heard = watchers.get(scope.system)
  if (heard === undefined) return
  const candidates = 'regions' in asked ? listsOf(asked, taken) : listsOnce(asked)
  for (const watcher of heard) watcher(scope.self, event, candidates, taken)
}

function listsOnce(asked: Moves | readonly Moves[]): Considered {
  const known = considered.get(asked)
  if (known !== undefined) return known
  const found = isList(asked) ? [transitionsOf(asked)] : asked.map(transitionsOf)
  considered.set(asked, found)
  return found
}

/** Candidates outside the regions are checked only if no region takes the event. */
function listsOf(asked: Selection, taken: readonly AnyTransitionDefinition[]): Considered {
  if (!isBranch(asked)) return [transitionsOf(asked)]
  const inside = asked.regions.flatMap((region) => listsOf(region, taken))
  const isAnswered = inside.some((list) => list.some((each) => taken.includes(each)))
  return isAnswered ? inside : [...inside, transitionsOf(asked.otherwise)]
}

const isList = (asked: Moves | readonly Moves[]): asked is Moves => !Array.isArray(asked[0])

const transitionsOf = (moves: Moves): readonly AnyTransitionDefinition[] => moves.map(({ transition }) => transition)
