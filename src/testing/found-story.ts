import { frameLine } from '../inspect/index.ts'
import type { Breach } from './invariant.ts'
import { breachesInWords, storyLines } from './invariant.ts'
import { pastedTest } from './pasted-test.ts'
import { recordStory } from './record-story.ts'
import type { Broken } from './shrink-story.ts'
import { idOf, type PlannedCall, type TurnSetup } from './turn-setup.ts'

/** A breach, with the shortest story that leads to it. */
export interface FoundStory {
  readonly breaches: readonly Breach[]
  readonly story: readonly string[]
  /** The setup, reduced to the calls that are needed for the breach. */
  readonly setup: TurnSetup
  /** A description for people. */
  readonly text: string
  /** A test to paste. It fails until the fault is fixed. */
  readonly test: string
  /** The story as a recording for the inspector: one frame per line. */
  recording(): Promise<string>
}

export function foundStory({ setup, story, breaches }: Broken): FoundStory {
  return {
    breaches,
    story,
    setup,
    text: [
      breachesInWords(breaches),
      ...setup.calls.map((call, index) => `   ${callInWords(call, index)}`),
      ...storyLines(story),
    ].join('\n'),
    test: pastedTest(setup, story, breaches),
    recording: async () => (await recordStory(setup, story)).map(frameLine).join(''),
  }
}

const callInWords = (call: PlannedCall, index: number): string =>
  `${idOf(call, index)} = ${call.tool}(${JSON.stringify(call.input ?? {})})${call.hold === true ? ', held' : ''}`
