import { frameLine } from '../inspect/index.ts'
import type { Breach } from './invariant.ts'
import { breachesInWords } from './invariant.ts'
import { pastedTest } from './pasted-test.ts'
import { recordStory } from './record-story.ts'
import type { Broken } from './shrink-story.ts'
import { idOf, type PlannedCall, type TurnSetup } from './turn-setup.ts'

/** What did not hold, and the shortest way there. */
export interface FoundStory {
  readonly breaches: readonly Breach[]
  readonly story: readonly string[]
  /** The turn as it was when it broke: with no more calls than it takes. */
  readonly setup: TurnSetup
  /** For people. */
  readonly text: string
  /** A test to paste: it fails until the fault is gone. */
  readonly test: string
  /** The story as a recording for the inspector: one frame a line. */
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
      ...story.map((move, index) => `${String(index + 1).padStart(2)}. ${move}`),
    ].join('\n'),
    test: pastedTest(setup, story, breaches),
    recording: async () => (await recordStory(setup, story)).map(frameLine).join(''),
  }
}

const callInWords = (call: PlannedCall, index: number): string =>
  `${idOf(call, index)} = ${call.tool}(${JSON.stringify(call.input ?? {})})${call.hold === true ? ', held' : ''}`
