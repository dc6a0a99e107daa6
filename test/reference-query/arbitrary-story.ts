import fc from 'fast-check'
import { type Answer, type CallPlan, type ErrorWord, type Move, type QueryPlan, Story } from './story.ts'

/** True about once in this many times; shrinks to false. */
const rarely = (times: number): fc.Arbitrary<boolean> => mostly(false, times, fc.constant(true))

/** Mostly the usual value; about once in this many times another one. Shrinks to the usual value. */
const mostly = <Value>(usual: Value, times: number, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: times - 1, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: other },
  )

/** Picks are percentages. */
const pick = fc.nat(99)
const error = fc.constantFrom<ErrorWord[]>('overloaded', 'overloaded', 'overloaded', 'connection', 'fatal', 'later')

const anyCall: fc.Arbitrary<CallPlan> = fc.record({
  safe: rarely(3).map((isUnsafe) => !isUnsafe),
  cancel: fc.boolean(),
  cascades: rarely(4),
  obedient: fc.boolean(),
  instant: rarely(6),
  startWhen: mostly('default', 3, fc.constantFrom('closed', 'nextBlock', 'turnEnded')),
  fault: mostly('none', 7, fc.constantFrom('unknown', 'broken', 'array', 'invalid')),
  asks: rarely(4),
  hook: mostly('none', 7, fc.constantFrom('pre', 'post')),
})

/** A call that is likely to run: most queries open with some, so that there is something to lose. */
const openingCall: fc.Arbitrary<CallPlan> = fc.record({
  safe: rarely(5).map((isUnsafe) => !isUnsafe),
  cancel: fc.boolean(),
  cascades: rarely(4),
  obedient: rarely(3),
  instant: rarely(12),
  startWhen: mostly('default', 4, fc.constantFrom('closed', 'nextBlock', 'turnEnded')),
  fault: fc.constant('none'),
  asks: rarely(6),
  hook: mostly('none', 12, fc.constantFrom('pre', 'post')),
})

const stopReason = fc.oneof(
  { weight: 3, arbitrary: fc.constant('tool_use') },
  { weight: 2, arbitrary: fc.constantFrom('end_turn', 'pause_turn', 'max_tokens', 'refusal', 'new_reason') },
)

const kind = <Kind extends Move['do']>(value: Kind): fc.Arbitrary<Kind> => fc.constant(value)
const plain = (value: 'end' | 'interrupt' | 'steer' | 'send' | 'leave' | 'prepare'): fc.Arbitrary<Move> =>
  fc.record({ do: kind(value) })

const moveOf: Record<Move['do'], fc.Arbitrary<Move>> = {
  call: fc.record({
    do: kind('call'),
    plan: anyCall,
    id: mostly('fresh', 6, fc.constantFrom('same', 'clash', 'earlier', 'earlier')),
    pick,
    leaveOpen: rarely(6),
  }),
  text: fc.record({ do: kind('text'), leaveOpen: rarely(3) }),
  think: fc.record({ do: kind('think'), leaveOpen: rarely(5) }),
  close: fc.record({ do: kind('close'), pick }),
  stray: fc.record({ do: kind('stray'), pick }),
  announce: fc.record({ do: kind('announce'), other: rarely(2) }),
  stop: fc.record({ do: kind('stop'), reason: stopReason, ends: rarely(6).map((stays) => !stays), alone: rarely(6) }),
  end: plain('end'),
  break: fc.record({ do: kind('break'), error, asEvent: fc.boolean() }),
  finish: fc.record({ do: kind('finish'), pick, modifies: rarely(3) }),
  fail: fc.record({ do: kind('fail'), pick }),
  progress: fc.record({ do: kind('progress'), pick }),
  answer: fc.record({
    do: kind('answer'),
    pick,
    answer: fc.constantFrom<Answer[]>('allow', 'allow', 'allow', 'deny', 'deny', 'deny and stop'),
  }),
  pass: fc.record({ do: kind('pass'), ticks: fc.constantFrom(1, 1, 2, 3, 7) }),
  abort: fc.record({ do: kind('abort'), reason: fc.constantFrom('escape', undefined, 'interrupt') }),
  host: fc.record({ do: kind('host'), reason: fc.constantFrom('host', 'interrupt') }),
  interrupt: plain('interrupt'),
  steer: plain('steer'),
  send: plain('send'),
  leave: plain('leave'),
  prepare: plain('prepare'),
}

/** The frequency of each move: in normal operation, with model errors, and near the end. */
const weights: Record<Move['do'], { calm: number; rough: number; blow: number }> = {
  call: { calm: 26, rough: 24, blow: 0 },
  text: { calm: 5, rough: 5, blow: 0 },
  think: { calm: 2, rough: 2, blow: 0 },
  close: { calm: 6, rough: 5, blow: 0 },
  stray: { calm: 3, rough: 2, blow: 0 },
  announce: { calm: 1, rough: 4, blow: 0 },
  stop: { calm: 12, rough: 8, blow: 0 },
  end: { calm: 0, rough: 1, blow: 0 },
  break: { calm: 0, rough: 8, blow: 1 },
  finish: { calm: 16, rough: 10, blow: 0 },
  fail: { calm: 4, rough: 5, blow: 0 },
  progress: { calm: 3, rough: 2, blow: 0 },
  answer: { calm: 8, rough: 6, blow: 0 },
  pass: { calm: 3, rough: 14, blow: 0 },
  abort: { calm: 0, rough: 0, blow: 6 },
  host: { calm: 0, rough: 0, blow: 3 },
  interrupt: { calm: 0, rough: 0, blow: 6 },
  steer: { calm: 2, rough: 3, blow: 2 },
  send: { calm: 2, rough: 2, blow: 0 },
  leave: { calm: 0, rough: 0, blow: 2 },
  prepare: { calm: 6, rough: 6, blow: 0 },
}

const kinds = Object.keys(weights) as Move['do'][]

const anyMove = (temper: 'calm' | 'rough' | 'blow'): fc.Arbitrary<Move> =>
  fc.oneof(
    ...kinds
      .filter((each) => weights[each][temper] > 0)
      .map((each) => ({ weight: weights[each][temper], arbitrary: moveOf[each] })),
  )

const anyLimits = fc.record(
  {
    turns: fc.integer({ min: 0, max: 4 }),
    calls: fc.integer({ min: 0, max: 6 }),
    outputTokens: fc.integer({ min: 0, max: 60 }),
  },
  { requiredKeys: [] },
)

const anyPlan: fc.Arbitrary<QueryPlan> = fc.record({
  maxTurns: mostly(9, 4, fc.integer({ min: 1, max: 3 })),
  attempts: fc.integer({ min: 0, max: 2 }),
  hasFallback: fc.boolean(),
  isBatch: rarely(5),
  isHooked: rarely(3),
  maxConcurrency: mostly(10, 4, fc.integer({ min: 1, max: 2 })),
  before: mostly('nothing', 15, fc.constantFrom('host aborted', 'abort', 'send')),
  prepares: mostly('no', 4, fc.constantFrom('at once', 'later')),
  unprepared: mostly(undefined, 8, fc.integer({ min: 1, max: 4 })),
  openings: mostly([], 6, fc.array(mostly(undefined, 2, error), { maxLength: 4 })),
  isNameless: rarely(25),
  isMonotone: rarely(25),
  isDeaf: rarely(6),
  limits: mostly(undefined, 2, anyLimits),
})

/** Any query of up to this many moves (at least fourteen). */
export function storyOf(maxMoves: number): fc.Arbitrary<Story> {
  const listOf = (arbitrary: fc.Arbitrary<Move>, maxLength: number): fc.Arbitrary<Move[]> =>
    fc.array(arbitrary, { maxLength, size: 'max' })
  const opening = listOf(
    openingCall.map((plan) => ({ do: 'call', plan, id: 'fresh', pick: 0, leaveOpen: false })),
    3,
  )
  const [calm, rough, blow] = [anyMove('calm'), anyMove('rough'), anyMove('blow')]
  const anyTime = fc.oneof(listOf(calm, maxMoves - 3), listOf(rough, maxMoves - 3))
  const cutShort = fc
    .tuple(
      fc.oneof(listOf(calm, maxMoves - 11), listOf(rough, maxMoves - 11)),
      blow,
      listOf(rough, 5),
      blow,
      listOf(rough, 3),
    )
    .map(([before, first, between, second, after]) => [...before, first, ...between, second, ...after])
  const rest = fc.oneof({ weight: 2, arbitrary: anyTime }, { weight: 3, arbitrary: cutShort })
  // fast-check's bias to small values would make most queries too short to matter
  return fc.noBias(fc.tuple(anyPlan, opening, rest)).map(([plan, first, then]) => new Story(plan, [...first, ...then]))
}
