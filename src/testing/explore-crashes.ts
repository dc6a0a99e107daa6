import { checkSetup } from './check-setup.ts'
import { type CrashSetup, crashRules } from './crash-invariants.ts'
import { CrashingConversation } from './crashing-conversation.ts'
import {
  type Budget,
  budgetRules,
  type ExplorationFigures,
  explorationReport,
  exploreWorlds,
} from './explore-worlds.ts'
import type { Breach } from './invariant.ts'
import { checkOptions } from './option-rules.ts'
import { calledIn } from './query-setup.ts'

export interface ExploreCrashesOptions extends CrashSetup, Budget {}

export interface CrashExploration extends ExplorationFigures {
  /** The shortest story that leads to a breach. */
  readonly breach: { readonly story: readonly string[]; readonly breaches: readonly Breach[] } | undefined
  /** A summary as text. */
  readonly report: string
}

/**
 * Explores every order of events in a small session, with a crash at every point: no completed body runs again, no
 * result is lost, doubled or untrue, and every question is open again under its id.
 *
 * @example
 * const { breach } = await exploreCrashes({ tools, replies: [[{ call: 'Pay' }], 'Done.'] })
 */
export async function exploreCrashes(options: ExploreCrashesOptions): Promise<CrashExploration> {
  checkOptions(options, { ...crashRules, ...budgetRules }, ['tools', 'replies'])
  const { maxStates, maxMs, now, ...setup } = options
  const { tools, replies } = setup
  checkSetup({ tools, called: calledIn(replies), happenings: undefined, known: {} })
  const { figures, found } = await exploreWorlds(() => new CrashingConversation(setup), { maxStates, maxMs, now })
  const text = found && `${found.story.join('\n')}\n${found.breaches.map(({ problem }) => problem).join('\n')}`
  return { ...figures, breach: found, report: explorationReport(figures, text === undefined ? undefined : { text }) }
}
