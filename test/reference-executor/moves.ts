import type { ExecutorUnderTest } from './executor-under-test.ts'
import { isLive, type ModelCall } from './model-call.ts'
import type { ReferenceModel } from './reference-model.ts'
import { type AbortWord, type Answer, type CallPlan, graceMs, toolName } from './turn-view.ts'

/** Picks range from 0 to this. */
export const picks = 100

/** One event of a turn. `pick` chooses the call; `stray` also picks calls for which it should have no effect. */
export type Move =
  | { do: 'add'; plan: CallPlan }
  | { do: 'repeat'; pick: number; asReturned: boolean }
  | { do: 'clash' | 'leave'; pick: number }
  | { do: 'release' | 'fail' | 'progress'; pick: number; stray: boolean }
  | { do: 'finish'; pick: number; stray: boolean; hasNote: boolean }
  | { do: 'answer'; pick: number; stray: boolean; answer: Answer }
  | { do: 'abort'; reason: AbortWord | 'no reason' }
  | { do: 'abortByHost'; reason: AbortWord }
  | { do: 'discard' }
  | { do: 'passTime'; ms: number }
  | { do: 'take' | 'read'; count: number }

/** A move with its call. */
export interface Step {
  readonly story: string
  /** Plays it on both; returns both answers. */
  play(executor: ExecutorUnderTest, model: ReferenceModel): { actual: unknown; expected: unknown }
}

function step<Answered>(
  story: string,
  act: (executor: ExecutorUnderTest) => Answered,
  predict: (model: ReferenceModel, actual: Answered) => unknown,
): Step {
  return {
    story,
    play(executor, model) {
      const actual = act(executor)
      return { actual, expected: predict(model, actual) }
    },
  }
}

// a fraction, not a remainder: after shrinking removes calls, it more often picks the same one
const pickOf = (calls: readonly ModelCall[], pick: number): ModelCall | undefined =>
  calls[Math.floor((pick / picks) * calls.length)]

/** The move in the current state, or undefined if no call fits. */
export function resolveMove(move: Move, model: ReferenceModel): Step | undefined {
  const { calls, started, asked } = model
  switch (move.do) {
    case 'add': {
      const label = `c${calls.length + 1}`
      return step(
        `add ${label}: ${planInWords(move.plan)}`,
        (executor) => executor.add(label, move.plan),
        () => model.add(label, move.plan),
      )
    }
    case 'repeat':
      if (model.isDiscarded) return undefined
      return withCall(pickOf(calls, move.pick), (call) =>
        step(
          `add ${call.label} again${move.asReturned ? ' as it was returned' : ''}`,
          (executor) => executor.repeat(call.label, move.asReturned),
          () => undefined,
        ),
      )
    case 'clash': {
      if (model.isDiscarded) return undefined
      const label = `c${calls.length + 1}`
      return withCall(pickOf(calls, move.pick), (taken) =>
        step(
          `add ${label} under the id of ${taken.label}, with another input`,
          (executor) => executor.clash(label, taken.label),
          () => model.clash(label, taken),
        ),
      )
    }
    case 'release': {
      const held = calls.filter((call) => call.held && (call.stage === 'waiting' || call.stage === 'ignored'))
      return withCall(pickOf(move.stray ? calls : held, move.pick), (call) => stepOfCall('release', call))
    }
    case 'fail':
    case 'progress': {
      const bodies = calls.filter((call) => (move.stray ? started.includes(call.label) : isLive(call)))
      return withCall(pickOf(bodies, move.pick), (call) => stepOfCall(move.do, call))
    }
    case 'finish': {
      const bodies = calls.filter((call) => (move.stray ? started.includes(call.label) : isLive(call)))
      return withCall(pickOf(bodies, move.pick), (call) =>
        step(
          `finish ${call.label}${move.hasNote ? ' with a note' : ''}`,
          (executor) => executor.finish(call.label, move.hasNote),
          () => model.finish(call, move.hasNote),
        ),
      )
    }
    case 'answer': {
      const questions = calls.filter((call) => (move.stray ? asked.includes(call.label) : call.stage === 'asking'))
      return withCall(pickOf(questions, move.pick), (call) =>
        step(
          `answer ${call.label}: ${move.answer}`,
          (executor) => executor.answer(call.label, move.answer),
          () => model.answer(call, move.answer),
        ),
      )
    }
    case 'leave':
      if (!model.hasReaders) return undefined
      return step(
        'a sleeping reader leaves',
        (executor) => executor.leave(move.pick),
        (_, unserved) => {
          model.leave(unserved)
          return unserved
        },
      )
    default:
      return plainStep(move)
  }
}

type PlainMove = Extract<Move, { do: 'abort' | 'abortByHost' | 'discard' | 'passTime' | 'take' | 'read' }>

function plainStep(move: PlainMove): Step {
  const story = moveInWords(move)
  switch (move.do) {
    case 'abort':
      return step(
        story,
        (executor) => executor.abort(move.reason === 'no reason' ? undefined : move.reason),
        (model) => model.abort(move.reason),
      )
    case 'abortByHost':
      return step(
        story,
        (executor) => executor.abortByHost(move.reason),
        (model) => model.abortByHost(move.reason),
      )
    case 'discard':
      return step(
        story,
        (executor) => executor.discard(),
        (model) => model.discard(),
      )
    case 'passTime':
      return step(
        story,
        (executor) => executor.passTime(move.ms),
        (model) => model.passTime(move.ms),
      )
    case 'take':
    case 'read':
      return step(
        story,
        (executor) => executor[move.do](move.count),
        (model) => model[move.do](move.count),
      )
  }
}

const stepOfCall = (what: 'release' | 'fail' | 'progress', call: ModelCall): Step =>
  step(
    `${what} ${call.label}`,
    (executor) => executor[what](call.label),
    (model) => model[what](call),
  )

const withCall = (call: ModelCall | undefined, then: (call: ModelCall) => Step): Step | undefined =>
  call === undefined ? undefined : then(call)

const planInWords = (plan: CallPlan): string =>
  [
    toolName(plan).replaceAll('_', ' '),
    ...(plan.fault === 'unknown' ? ['unknown'] : []),
    ...(plan.fault === 'invalid' ? ['invalid input'] : []),
    ...(plan.asks ? ['asks'] : []),
    ...(plan.keyed ? [`reads ${plan.keys.reads.join(' ')}, writes ${plan.keys.writes.join(' ')}`] : []),
    ...(plan.hold ? ['held'] : []),
  ].join(', ')

/** One line for a move that has no call yet. */
export function moveInWords(move: Move): string {
  switch (move.do) {
    case 'add':
      return `add: ${planInWords(move.plan)}`
    case 'abort':
      return `abort: ${move.reason}`
    case 'abortByHost':
      return `the host aborts: ${move.reason}`
    case 'discard':
      return 'discard'
    case 'passTime':
      return `${move.ms} of ${graceMs} ms of grace pass`
    case 'take':
      return `take up to ${move.count}`
    case 'read':
      return `read up to ${move.count}, waiting for them`
    case 'answer':
      return `answer #${move.pick}: ${move.answer}`
    default:
      return `${move.do} #${move.pick}`
  }
}
