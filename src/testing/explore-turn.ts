import { SignalboxError } from '../base/signalbox-error.ts'
import { checkSetup } from './check-setup.ts'
import {
  type Budget,
  budgetRules,
  type ExplorationFigures,
  explorationReport,
  exploreWorlds,
} from './explore-worlds.ts'
import { type FoundStory, foundStory } from './found-story.ts'
import { HeldWorld } from './held-world.ts'
import { allHappenings } from './moves.ts'
import { checkOptions } from './option-rules.ts'
import { shrinkStory } from './shrink-story.ts'
import { type TurnSetup, turnRules } from './turn-setup.ts'

export interface ExploreOptions extends TurnSetup, Budget {}

export interface Exploration extends ExplorationFigures {
  /** The breach, with the shortest story that leads to it. */
  readonly breach: FoundStory | undefined
  /** A summary as text. */
  readonly report: string
}

/**
 * Explores every order of events in a small turn, on the real executor and its charts. The search is breadth first and
 * merges equal states; it reaches a state again by replaying from the start. Every invariant is checked after every move,
 * so the first breach has the shortest story.
 *
 * @example
 * const { breach } = await exploreTurn({ tools, calls: [{ tool: 'Read' }, { tool: 'Edit' }, { tool: 'Read' }] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreTurn(options: ExploreOptions): Promise<Exploration> {
  checkOptions(options, { ...turnRules, ...budgetRules }, ['tools', 'calls'])
  const { maxStates, maxMs, now, ...setup } = options
  const { calls, happenings } = setup
  if (calls.length === 0)
    throw new SignalboxError('invalid_option', 'calls: expected at least one call, received an empty list.')
  const { tools } = new HeldWorld(setup).bodies
  checkSetup({ tools, called: calls, happenings, known: allHappenings })
  // real bodies may share state that each story resets, so only one world of theirs may be alive
  const mostLive = typeof setup.tools === 'function' ? 0 : undefined
  const { figures, found } = await exploreWorlds(() => new HeldWorld(setup), { maxStates, maxMs, now }, mostLive)
  const breach = found && foundStory(await shrinkStory(setup, found.story, found.breaches))
  return { ...figures, breach, report: explorationReport(figures, breach) }
}
