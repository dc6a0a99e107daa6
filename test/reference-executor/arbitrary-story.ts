import fc from 'fast-check'
import { type Move, picks } from './moves.ts'
import { Story } from './story.ts'
import { type AbortWord, type Answer, type CallPlan, graceMs, type Keys, type TurnPlan } from './turn-view.ts'

/** True about once in this many times; shrinks to false. */
const rarely = (times: number): fc.Arbitrary<boolean> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: times - 1, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  )

const pick = fc.nat(picks - 1)
const stray = rarely(6)
const count = fc.integer({ min: 1, max: 4 })
// uneven parts of the grace period, so that two aborts rarely end together
const ms = fc.constantFrom(graceMs, graceMs * 0.7, graceMs * 0.4)
const answer = fc.constantFrom<Answer[]>('allow', 'allow', 'allow with other keys', 'deny', 'deny', 'deny and stop')
const reason = fc.constantFrom<(AbortWord | 'no reason')[]>(
  'interrupt',
  'interrupt',
  'interrupt',
  'escape',
  'no reason',
)
const abortWord = fc.constantFrom<AbortWord[]>('interrupt', 'escape')

const noFault = fc.constant('none' as const)

// few, so that they often conflict; folders and files, so that one may cover another
const key = fc.constantFrom('a:1', 'a:2', 'a:x/', 'a:x/1', 'a:x/y/', 'a:x/y/2', 'b:1')
const keyList = fc.uniqueArray(fc.oneof({ weight: 12, arbitrary: key }, { weight: 1, arbitrary: fc.constant('*') }), {
  maxLength: 2,
})
const keys: fc.Arbitrary<Keys> = fc.record({ reads: keyList, writes: keyList })
const keyTraits = { keyed: rarely(2), keys, otherKeys: keys }

const anyCall: fc.Arbitrary<CallPlan> = fc.record({
  safe: rarely(3).map((isUnsafe) => !isUnsafe),
  cancel: fc.boolean(),
  cascades: rarely(3),
  obedient: rarely(3),
  ...keyTraits,
  fault: fc.oneof(
    { withCrossShrink: true },
    { weight: 10, arbitrary: noFault },
    { weight: 1, arbitrary: fc.constant('unknown' as const) },
    { weight: 1, arbitrary: fc.constant('invalid' as const) },
  ),
  asks: rarely(3),
  hold: rarely(5),
})

/** A call that is likely to run beside others: most turns open with some, so that there is something to abort. */
const openingCall: fc.Arbitrary<CallPlan> = fc.record({
  safe: rarely(8).map((isUnsafe) => !isUnsafe),
  cancel: fc.boolean(),
  cascades: rarely(2),
  obedient: rarely(4),
  ...keyTraits,
  fault: noFault,
  asks: rarely(6),
  hold: rarely(10),
})

const kind = <Kind extends Move['do']>(value: Kind): fc.Arbitrary<Kind> => fc.constant(value)

const moveOf: Record<Move['do'], fc.Arbitrary<Move>> = {
  add: fc.record({ do: kind('add'), plan: anyCall }),
  repeat: fc.record({ do: kind('repeat'), pick, asReturned: fc.boolean() }),
  clash: fc.record({ do: kind('clash'), pick }),
  release: fc.record({ do: kind('release'), pick, stray }),
  answer: fc.record({ do: kind('answer'), pick, stray, answer }),
  progress: fc.record({ do: kind('progress'), pick, stray }),
  finish: fc.record({ do: kind('finish'), pick, stray, hasNote: rarely(4) }),
  fail: fc.record({ do: kind('fail'), pick, stray }),
  take: fc.record({ do: kind('take'), count }),
  read: fc.record({ do: kind('read'), count }),
  leave: fc.record({ do: kind('leave'), pick }),
  passTime: fc.record({ do: kind('passTime'), ms }),
  abort: fc.record({ do: kind('abort'), reason }),
  abortByHost: fc.record({ do: kind('abortByHost'), reason: abortWord }),
  discard: fc.record({ do: kind('discard') }),
}

/** The frequency of each move, for three kinds of turns. */
const weights: Record<Move['do'], { calm: number; stormy: number; rough: number }> = {
  add: { calm: 36, stormy: 36, rough: 8 },
  repeat: { calm: 2, stormy: 2, rough: 0 },
  clash: { calm: 2, stormy: 2, rough: 0 },
  release: { calm: 7, stormy: 7, rough: 4 },
  answer: { calm: 9, stormy: 9, rough: 10 },
  progress: { calm: 7, stormy: 7, rough: 3 },
  finish: { calm: 14, stormy: 14, rough: 10 },
  fail: { calm: 5, stormy: 5, rough: 14 },
  take: { calm: 5, stormy: 5, rough: 3 },
  read: { calm: 5, stormy: 5, rough: 3 },
  leave: { calm: 2, stormy: 2, rough: 1 },
  passTime: { calm: 6, stormy: 8, rough: 12 },
  abort: { calm: 0, stormy: 3, rough: 12 },
  abortByHost: { calm: 0, stormy: 1, rough: 2 },
  discard: { calm: 0, stormy: 1, rough: 1 },
}

const kinds = Object.keys(weights) as Move['do'][]

const anyMove = (temper: 'calm' | 'stormy' | 'rough'): fc.Arbitrary<Move> =>
  fc.oneof(...kinds.map((each) => ({ weight: weights[each][temper], arbitrary: moveOf[each] })))

const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  maxBufferedProgress: fc.integer({ min: 1, max: 3 }),
  hostAsks: fc.boolean(),
  abortedBefore: fc.oneof(
    { withCrossShrink: true },
    { weight: 40, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: abortWord },
  ),
})

const openingMoves = 6

/** Any turn of up to this many moves (at least ten). */
export function storyOf(maxMoves: number): fc.Arbitrary<Story> {
  const listOf = (arbitrary: fc.Arbitrary<Move>, maxLength: number): fc.Arbitrary<Move[]> =>
    fc.array(arbitrary, { maxLength, size: 'max' })
  const opening = listOf(fc.record({ do: kind('add'), plan: openingCall }), openingMoves)
  const rest = fc.oneof(
    { weight: 1, arbitrary: listOf(anyMove('calm'), maxMoves - openingMoves) },
    { weight: 2, arbitrary: listOf(anyMove('stormy'), maxMoves - openingMoves) },
    { weight: 3, arbitrary: listOf(anyMove('rough'), Math.ceil(maxMoves / 2) - openingMoves) },
  )
  // fast-check's bias to small values would make most turns too short to matter
  return fc.noBias(fc.tuple(turnPlan, opening, rest)).map(([plan, first, then]) => new Story(plan, [...first, ...then]))
}
