import fc from 'fast-check'
import { flush } from '../support/turn.ts'
import { storyOf } from './arbitrary-story.ts'
import { type Entry, entryInWords } from './entry.ts'
import { faultsOf } from './invariants.ts'
import { QueryUnderTest } from './query-under-test.ts'
import { Script } from './script.ts'
import { type Answer, planInWords, type Story } from './story.ts'

const acts = {
  abort: { is: 'aborts', reason: 'escape' },
  interrupt: { is: 'interrupts' },
  'host aborts': { is: 'host aborts', reason: 'host' },
  steer: { is: 'steers', text: 'from a body' },
  send: { is: 'sends', text: 'from a body' },
  leave: { is: 'leaves' },
} as const satisfies Record<string, Entry>

type Act = keyof typeof acts | 'nothing'

/** A story whose events overlap. */
export class HastyStory {
  readonly story: Story
  /** How many microtasks pass after each entry. */
  readonly waits: readonly number[]
  /** What each body does to the query when it begins. */
  readonly acts: readonly Act[]
  /** The host's immediate answer to each question, if any. */
  readonly answers: readonly (Answer | undefined)[]

  constructor(story: Story, waits: readonly number[], given: readonly Act[], answers: HastyStory['answers']) {
    this.story = story
    this.waits = waits
    this.acts = given
    this.answers = answers
  }

  toString(): string {
    return [`waits ${this.waits}`, `bodies: ${this.acts}`, `answers: ${this.answers}`, this.story].join('\n')
  }
}

const calm = fc.constant<Act>('nothing')
const anyAct = fc.oneof(
  { withCrossShrink: true },
  { weight: 6, arbitrary: calm },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(acts) as Act[])) },
)
const anyAnswer = fc.option(fc.constantFrom<Answer[]>('allow', 'deny', 'deny and stop'), { nil: undefined })

export const hastyStoryOf = (maxMoves: number): fc.Arbitrary<HastyStory> =>
  fc
    .tuple(
      storyOf(maxMoves),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 20, size: 'max' }),
      fc.array(anyAct, { maxLength: 6, size: 'max' }),
      fc.array(anyAnswer, { maxLength: 4, size: 'max' }),
    )
    .map((parts) => new HastyStory(...parts))

const maxEndSteps = 200

/** Plays it, and throws on a violation. */
export async function playInHaste({ story: { plan, moves }, waits, ...hasty }: HastyStory): Promise<QueryUnderTest> {
  const calls = moves.flatMap((move) => (move.do === 'call' ? [move.plan] : []))
  const ids = new Set<string>()
  const query = new QueryUnderTest(plan, calls, ids)
  const script = new Script(plan, query, ids)
  const told: string[] = []
  let questions = 0
  query.isHurried = true
  query.bodies.answerAtOnce = () => hasty.answers[questions++]
  query.bodies.onStart = () => {
    const act = hasty.acts[query.bodies.bodies.length - 1] ?? 'nothing'
    if (act !== 'nothing') query.do(acts[act])
  }

  async function play(entries: Iterable<Entry>, isHasty: boolean): Promise<void> {
    for (const entry of entries) {
      if (query.result !== undefined) return
      told.push(`${told.length + 1}. ${entryInWords(entry)}`)
      query.do(entry)
      const wait = waits[told.length % waits.length] ?? 0
      if (!isHasty || wait === 12) await flush()
      else for (let turn = 0; turn < wait; turn++) await undefined
    }
  }

  query.read()
  for (const move of moves) {
    await play(script.entriesFor(move), true)
  }
  await flush()
  for (let step = 0; step < maxEndSteps && query.result === undefined; step++) {
    await play(script.nextToEnd(), false)
  }
  const found = await faultsOf(query)
  if (found.length > 0) throw new Error([planInWords(plan), ...told, ...found].join('\n'))
  return query
}
