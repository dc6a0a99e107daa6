import { flush } from '../support/turn.ts'
import { difference, differences } from './compare.ts'
import { ExecutorUnderTest } from './executor-under-test.ts'
import { type Move, resolveMove } from './moves.ts'
import { ReferenceModel } from './reference-model.ts'
import { planInWords, type Story } from './story.ts'
import { graceMs, openEnd } from './turn-view.ts'

/** Plays a story on the executor and on the model, and throws at the first move after which they differ. */
export async function playStory({ plan, moves }: Story): Promise<void> {
  const model = new ReferenceModel(plan)
  const executor = new ExecutorUnderTest(plan)
  const told = [planInWords(plan)]

  async function play(move: Move): Promise<void> {
    const step = resolveMove(move, model)
    if (step === undefined) return
    told.push(`${told.length}. ${step.story}`)
    const { actual, expected } = step.play(executor, model)
    await flush()
    const found = [...difference('answered', expected, actual), ...differences(model.view(), executor.view())]
    if (found.length > 0) throw new Error([`After move ${told.length - 1} they differ.`, ...told, ...found].join('\n'))
  }

  for (const move of moves) await play(move)
  if (model.isDiscarded) return

  told[0] += ` (${told.length - 1} moves, then the turn is brought to its end)`
  await play({ do: 'passTime', ms: graceMs })
  for (let move = nextToEnd(model); move !== undefined; move = nextToEnd(model)) await play(move)
  await play({ do: 'read', count: openEnd })

  const labels = model.calls.map(({ label }) => label)
  const view = executor.view()
  const found = [
    ...difference('calls with a result', labels, resultLabels(view.handedOver)),
    ...difference('gate at the end', 'open', view.gate),
    ...difference('messages still wanted at the end', 0, view.wanted),
    ...difference('in progress at the end', [], view.inProgress),
  ]
  if (found.length > 0) throw new Error(['At the end they differ.', ...told, ...found].join('\n'))
}

/** The remaining moves until every call ends. */
function nextToEnd({ calls }: ReferenceModel): Move | undefined {
  if (calls.some(({ held, stage }) => held && stage === 'waiting')) return { do: 'release', pick: 0, stray: false }
  if (calls.some(({ stage }) => stage === 'asking')) return { do: 'answer', pick: 0, stray: false, answer: 'allow' }
  if (calls.some(({ stage }) => stage === 'running')) return { do: 'finish', pick: 0, stray: false, hasNote: false }
  if (calls.some(({ stage }) => stage === 'stopping')) return { do: 'passTime', ms: graceMs }
  return undefined
}

const resultLabels = (messages: readonly string[]): string[] =>
  messages
    .filter((message) => !/^\S+ (progress|note|input_changed)/.test(message))
    .map((message) => message.split(' ')[0] ?? '')
