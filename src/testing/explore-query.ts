import { checkSetup } from './check-setup.ts'
import {
  type Budget,
  budgetRules,
  type ExplorationFigures,
  explorationReport,
  exploreWorlds,
} from './explore-worlds.ts'
import { type FoundQuery, foundQuery } from './found-query.ts'
import { HeldConversation } from './held-conversation.ts'
import { checkOptions } from './option-rules.ts'
import { allQueryHappenings } from './query-moves.ts'
import { calledIn, type QuerySetup, queryRules } from './query-setup.ts'

export interface ExploreQueryOptions extends QuerySetup, Budget {}

export interface QueryExploration extends ExplorationFigures {
  /** The breach, with the shortest story that leads to it. */
  readonly breach: FoundQuery | undefined
  /** A summary as text. */
  readonly report: string
}

/**
 * Explores every order of events in a small conversation, on the real query loop: interrupts, aborts, failures of the
 * model and of tools, and readers that leave, at every reachable point.
 *
 * @example
 * const { breach } = await exploreQuery({ tools, replies: [['Let me see.', { call: 'Read' }], 'Done.'] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreQuery(options: ExploreQueryOptions): Promise<QueryExploration> {
  checkOptions(options, { ...queryRules, ...budgetRules }, ['tools', 'replies'])
  const { maxStates, maxMs, now, ...setup } = options
  const { tools, replies, happenings } = setup
  const called = calledIn(replies)
  checkSetup({ tools, called, happenings, known: allQueryHappenings })
  const { figures, found } = await exploreWorlds(() => new HeldConversation(setup), { maxStates, maxMs, now })
  const breach = found && (await foundQuery(setup, found.story, found.breaches))
  return { ...figures, breach, report: explorationReport(figures, breach) }
}
