import { SignalboxError } from '../errors/signalbox-error.ts'
import { checkSetup } from './check-setup.ts'
import { type Budget, type ExplorationFigures, explorationReport, exploreWorlds } from './explore-worlds.ts'
import { type FoundStory, foundStory } from './found-story.ts'
import { HeldWorld } from './held-world.ts'
import { allHappenings } from './moves.ts'
import { shrinkStory } from './shrink-story.ts'
import type { TurnSetup } from './turn-setup.ts'

export interface ExploreOptions extends TurnSetup, Budget {}

export interface Exploration extends ExplorationFigures {
  /** What did not hold, with the shortest story that leads there. */
  readonly breach: FoundStory | undefined
  /** All of this in a line or more. */
  readonly report: string
}

/**
 * Plays every order in which a small turn can go, on the real executor and its real charts: breadth first, with equal
 * states merged, each state reached anew from the start. Every invariant is checked after every move, so the first
 * breach has the shortest story.
 *
 * @example
 * const { breach } = await exploreTurn({ tools, calls: [{ tool: 'Read' }, { tool: 'Edit' }, { tool: 'Read' }] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreTurn({ maxStates, maxMs, now, ...setup }: ExploreOptions): Promise<Exploration> {
  const { calls, happenings } = setup
  if (calls.length === 0) throw new SignalboxError('invalid_option', 'calls must have a call to explore.')
  const { tools } = new HeldWorld(setup).bodies
  checkSetup({ tools, called: calls.map(({ tool }) => tool), happenings, known: allHappenings })
  const { figures, found } = await exploreWorlds(() => new HeldWorld(setup), { maxStates, maxMs, now })
  const breach = found && foundStory(await shrinkStory(setup, found.story, found.breaches))
  return { ...figures, breach, report: explorationReport(figures, breach) }
}
