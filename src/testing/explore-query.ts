import { checkSetup } from './check-setup.ts'
import { type Budget, type ExplorationFigures, explorationReport, exploreWorlds } from './explore-worlds.ts'
import { type FoundQuery, foundQuery } from './found-query.ts'
import { HeldConversation } from './held-conversation.ts'
import { allQueryHappenings } from './query-moves.ts'
import type { QuerySetup } from './query-setup.ts'

export interface ExploreQueryOptions extends QuerySetup, Budget {}

export interface QueryExploration extends ExplorationFigures {
  /** What did not hold, with the shortest story that leads there. */
  readonly breach: FoundQuery | undefined
  /** All of this in a line or more. */
  readonly report: string
}

/**
 * Plays every order in which a small conversation can go, on the real query loop: interrupts, aborts, failures of the
 * model and of tools, and readers that leave, at every point that can be reached.
 *
 * @example
 * const { breach } = await exploreQuery({ tools, replies: [['Let me see.', { call: 'Read' }], 'Done.'] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreQuery({
  maxStates,
  maxMs,
  now,
  ...setup
}: ExploreQueryOptions): Promise<QueryExploration> {
  const { tools, replies, happenings } = setup
  const called = replies.flat().flatMap((item) => (typeof item === 'string' ? [] : [item.call]))
  checkSetup({ tools, called, happenings, known: allQueryHappenings })
  const { figures, found } = await exploreWorlds(() => new HeldConversation(setup), { maxStates, maxMs, now })
  const breach = found && (await foundQuery(setup, found.story, found.breaches))
  return { ...figures, breach, report: explorationReport(figures, breach) }
}
