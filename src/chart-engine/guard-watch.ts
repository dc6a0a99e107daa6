import type { ActorSystem, AnyActorRef, AnyEventObject, AnyTransitionDefinition } from 'xstate'
import type { ChartStep } from './chart-step.ts'
import { isBranch, type Moves, type Selection } from './chart-table.ts'

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
const considered = new WeakMap<object, Considered>()

/** `asked`: what could answer an event, or the eventless moves from each innermost state. */
export function tellGuardWatchers({ scope, event, taken }: ChartStep, asked: Selection | readonly Moves[]): void {
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

/** What stands outside of regions is asked only where none of them answers. */
function listsOf(asked: Selection, taken: readonly AnyTransitionDefinition[]): Considered {
  if (!isBranch(asked)) return [transitionsOf(asked)]
  const inside = asked.regions.flatMap((region) => listsOf(region, taken))
  const isAnswered = inside.some((list) => list.some((each) => taken.includes(each)))
  return isAnswered ? inside : [...inside, transitionsOf(asked.otherwise)]
}

const isList = (asked: Moves | readonly Moves[]): asked is Moves => !Array.isArray(asked[0])

const transitionsOf = (moves: Moves): readonly AnyTransitionDefinition[] => moves.map(({ transition }) => transition)
