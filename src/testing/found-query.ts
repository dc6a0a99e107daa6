import { frameLine } from '../inspect/index.ts'
import { HeldConversation } from './held-conversation.ts'
import { type Breach, breachesInWords, storyLines } from './invariant.ts'
import { pastedQueryTest } from './pasted-test.ts'
import { stuck, type TellOptions, tell } from './playable-world.ts'
import type { QuerySetup } from './query-setup.ts'
import { recordQuery, type WorldRecording } from './record-story.ts'
import { shrinkMoves } from './shrink-story.ts'

/** A breach in a query, with the shortest story that leads to it. */
export interface FoundQuery {
  readonly breaches: readonly Breach[]
  readonly story: readonly string[]
  readonly setup: QuerySetup
  /** A description for people. */
  readonly text: string
  /** A test to paste. It fails until the fault is fixed. */
  readonly test: string
  /** The story as a recording for the inspector: one frame per line. */
  recording(): Promise<string>
}

/** The smallest story that breaks the same invariant. */
export async function foundQuery(
  setup: QuerySetup,
  given: readonly string[],
  known: readonly Breach[],
): Promise<FoundQuery> {
  const name = known[0]?.invariant
  let breaches = known
  const mustEnd = name === stuck.invariant
  const story = await shrinkMoves(given, async (shorter) => {
    const told = await tell(() => new HeldConversation(setup), shorter, { mustEnd })
    if (!told.breaches.some(({ invariant }) => invariant === name)) return undefined
    breaches = told.breaches
    return told.story
  })
  const replies = setup.replies.map((reply, index) => `   ${index + 1}: ${JSON.stringify(reply)}`)
  return {
    breaches,
    story,
    setup,
    text: [breachesInWords(breaches), ...replies, ...storyLines(story)].join('\n'),
    test: pastedQueryTest(setup, story, breaches),
    async recording() {
      let recording: WorldRecording | undefined
      const onBegin = (world: HeldConversation): void => {
        recording = recordQuery(world)
      }
      const told = await tell(() => new HeldConversation(setup), story, { onBegin })
      return (recording?.end(told.breaches) ?? []).map(frameLine).join('')
    },
  }
}

/** Replays the story of a query and throws on a breach. Pasted tests call this. */
export async function replayQuery(
  setup: QuerySetup,
  story: readonly string[],
  { mustEnd = false }: Pick<TellOptions<never>, 'mustEnd'> = {},
): Promise<void> {
  const { breaches } = await tell(() => new HeldConversation(setup), story, { mustEnd })
  if (breaches.length > 0) throw new Error(breachesInWords(breaches))
}
