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
import { type Breach, breachesInWords, storyLines } from './invariant.ts'
import { checkOptions } from './option-rules.ts'
import { calledIn } from './query-setup.ts'

export interface ExploreCrashesOptions extends CrashSetup, Budget {}

export interface CrashExploration extends ExplorationFigures {
  /** The shortest story that leads to a breach. `text` is a description for people. */
  readonly breach:
    | { readonly story: readonly string[]; readonly breaches: readonly Breach[]; readonly text: string }
    | undefined
  /** A summary as text. */
  readonly report: string
}

/**
 * Explores every order of events in a small session, with a crash at every point: no completed body runs again, no
 * result is lost, doubled or untrue, and every question is open again under its id.
 *
 * @example
 * const { breach } = await exploreCrashes({ tools, replies: [[{ call: 'Pay' }], 'Done.'] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreCrashes(options: ExploreCrashesOptions): Promise<CrashExploration> {
  checkOptions(options, { ...crashRules, ...budgetRules }, ['tools', 'replies'])
  const { maxStates, maxMs, now, ...setup } = options
  const { tools, replies } = setup
  checkSetup({ tools, called: calledIn(replies), happenings: undefined, known: {} })
  const { figures, found } = await exploreWorlds(() => new CrashingConversation(setup), { maxStates, maxMs, now })
  const breach = found && { ...found, text: [breachesInWords(found.breaches), ...storyLines(found.story)].join('\n') }
  return { ...figures, breach, report: explorationReport(figures, breach) }
}
