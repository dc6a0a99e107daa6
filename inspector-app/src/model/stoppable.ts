import { outermostRun } from './conversation.ts'
import type { Model, Run } from './model.ts'

/** A run that takes commands now, and what its commands stop. */
export interface Stoppable {
  readonly run: Run
  readonly kind: 'executor' | 'query' | 'subAgent'
}

/**
 * The agents that the buttons stop, whichever turn and moment is shown: the main agent, and the sub-agent that the page
 * shows. If the shown agent has ended, the only agent that still works.
 */
export function stoppable({ runs }: Pick<Model, 'runs'>, shown: Run | undefined): Stoppable[] {
  const open = [...runs.values()].filter(takesCommands)
  if (open.length === 0) return []
  const ofShown = shown === undefined ? undefined : open.findLast((run) => isSameAgent(run, shown))
  const main = shown === undefined ? undefined : outermostRun(runs, shown)
  const ofMain = main === undefined ? undefined : open.findLast((run) => isSameAgent(run, main))
  const first = ofMain ?? ofShown ?? onlyOne(open.filter((run) => outermostRun(runs, run) === run))
  if (first === undefined) return []
  const kind = first.queryActor === undefined ? 'executor' : 'query'
  const found: Stoppable[] = [{ run: first, kind }]
  if (ofShown !== undefined && ofShown !== first) found.push({ run: ofShown, kind: 'subAgent' })
  return found
}

/** A query can be stopped between two turns too, while nothing executes. */
function takesCommands({ isWatched, can, queryActor, calls, yielded }: Run): boolean {
  return isWatched && can.length > 0 && (queryActor !== undefined || calls.length === 0 || yielded < calls.length)
}

/** Turns of one query have the same query. */
const isSameAgent = (one: Run, other: Run): boolean =>
  one.id === other.id || (one.queryActor !== undefined && one.queryActor === other.queryActor)

/** Nothing is chosen among several agents: a button must not stop one that nobody looks at. */
function onlyOne(open: readonly Run[]): Run | undefined {
  const newest = open.at(-1)
  return newest !== undefined && open.every((run) => isSameAgent(run, newest)) ? newest : undefined
}
