import fc from 'fast-check'
import { expect } from 'vitest'
import type { CanUseTool, PermissionAnswer } from '../../src/index.ts'
import { outcomeOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, isResult, takeAll, testTurn } from '../support/turn.ts'

const word = fc.constantFrom('allow', 'deny', 'rewrite', 'nonsense')

/** Several calls, and answers to them from two sides, in any order, some of them repeated. */
export const arbitraryQuestions = fc.integer({ min: 2, max: 5 }).chain((calls) =>
  fc.record({
    calls: fc.constant(calls),
    answers: fc.array(
      fc.record({
        call: fc.nat({ max: calls - 1 }),
        through: fc.constantFrom('host', 'executor'),
        word,
        // the next answer comes before this one has been processed
        isHasty: fc.boolean(),
      }),
      { maxLength: 12 },
    ),
  }),
)
type Story = typeof arbitraryQuestions extends fc.Arbitrary<infer Made> ? Made : never

interface Told {
  /** The return values of `executor.answer`, and the open questions at that time. */
  readonly steps: [taken: boolean | undefined, open: string[]][]
  /** The input that each body ran with, and the results: the content of errors, `done` for the rest. */
  readonly bodies: [string, unknown][]
  readonly results: [string, string][]
}

const answerOf = (kind: string, step: number): PermissionAnswer => {
  if (kind === 'allow') return { behavior: 'allow' }
  if (kind === 'rewrite') return { behavior: 'allow', updatedInput: { from: step } }
  if (kind === 'deny') return { behavior: 'deny', message: `denied in step ${step}.` }
  return { behavior: kind } as unknown as PermissionAnswer
}

/** Plays the answers, and returns the actual and the expected outcome. */
export async function playQuestions({ calls, answers }: Story): Promise<{ seen: Told; expected: Told }> {
  const ids = Array.from({ length: calls }, (_, index) => `call${index}`)
  const resolvers = new Map<string, (answer: PermissionAnswer) => void>()
  const canUseTool: CanUseTool = (_tool, _input, _context, _message, id) =>
    new Promise((resolve) => resolvers.set(id, resolve))
  // a changed input is checked for a moment, in which a second answer may come
  const read = heldTool('Read', { safe: true, validateInput: async () => ({ result: true }) })
  const { executor, add } = testTurn([read.tool], { canUseTool })
  for (const id of ids) add(id, 'Read', { from: 'model' })
  await flush()
  const open = () => executor.openQuestions().map(({ toolUseID }) => toolUseID)

  const firstAnswers = new Map<string, { word: string; step: number }>()
  const seen: Told = { steps: [], bodies: [], results: [] }
  const expected: Told = { steps: [], bodies: [], results: [] }
  const all = [...answers, ...ids.map((_, call) => ({ call, through: 'executor', word: 'deny', isHasty: false }))]
  for (const [step, { call, through, word: kind, isHasty }] of all.entries()) {
    const id = ids[call] as string
    const answer = answerOf(kind, step)
    const isFirst = !firstAnswers.has(id)
    if (isFirst) firstAnswers.set(id, { word: kind, step })
    const taken = through === 'executor' ? executor.answer(id, answer) : void resolvers.get(id)?.(answer)
    // a promise resolves a moment later: the next event must not overtake it
    if (through === 'host' || !isHasty) await flush()
    seen.steps.push([taken, open()])
    const stillOpen = ids.filter((each) => !firstAnswers.has(each))
    expected.steps.push([through === 'executor' ? isFirst : undefined, stillOpen])
  }
  // a changed input takes longer, so bodies may start in another order than the answers
  for (const id of ids.filter((each) => read.started.includes(each))) {
    seen.bodies.push([id, read.run(id).input])
    read.run(id).finish({ data: 'done' })
  }
  await flush()
  for (const update of takeAll(executor).filter(isResult)) {
    const { id, content } = outcomeOf(update)
    seen.results.push([
      id,
      /denied in step \d+\./.exec(String(content))?.[0] ?? (content === 'done' ? 'done' : 'error'),
    ])
  }
  for (const id of ids) {
    const first = firstAnswers.get(id)
    if (first?.word === 'allow') expected.bodies.push([id, { from: 'model' }])
    if (first?.word === 'rewrite') expected.bodies.push([id, { from: first.step }])
    if (first?.word === 'deny') expected.results.push([id, `denied in step ${first.step}.`])
    else expected.results.push([id, first?.word === 'nonsense' ? 'error' : 'done'])
  }
  expect(new Set(read.started).size).toBe(read.started.length)
  return { seen, expected }
}
