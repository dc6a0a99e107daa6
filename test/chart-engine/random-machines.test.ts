import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Act, observe, runners } from './beside-xstate.ts'
import { eventTypes, randomMachine } from './random-machine.ts'

const numRuns = process.env.SIGNALBOX_FULL === '1' ? 20_000 : 700

const event = fc.constantFrom(...eventTypes).map((type) => ({ type }))
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof({ weight: 5, arbitrary: event }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 3, maxLength: 10 },
)
const machines = fc.record({
  seed: fc.integer(),
  depth: fc.integer({ min: 1, max: 4 }),
  width: fc.integer({ min: 1, max: 4 }),
})
type Sample = typeof machines extends fc.Arbitrary<infer Value> ? Value : never

const seenBy = (name: keyof typeof runners, { seed, ...size }: Sample, done: readonly Act[]) =>
  observe(
    runners[name],
    (trace) => randomMachine(seed, size, { trace, fuel: 20, isChild: name.endsWith('Child') }),
    done,
  )

/** A table actor does not report its end, because its parent does not listen. */
const isReportOfEnd = (told: unknown): boolean => JSON.stringify(told).includes('"xstate.done.actor.it"')

/** Compares as text first, because deep comparisons of equal values take longer than everything else. */
function expectSame(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
}

describe('random machines', () => {
  // XState warns about every event that reaches an actor after its end
  beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined))

  it('Q7 run the same from a table as on XState: guards, actions, snapshots and all inspection events', () => {
    fc.assert(
      fc.property(machines, acts, (machine, done) => {
        expectSame(seenBy('compiled', machine, done), seenBy('xstate', machine, done))
      }),
      { numRuns },
    )
  })

  it('Q7 run the same at the root of a system, with and without observers', () => {
    fc.assert(
      fc.property(machines, acts, (machine, done) => {
        const expected = seenBy('xstate', machine, done)
        expectSame(seenBy('root', machine, done), expected)
        const { trace, views } = expected
        expectSame(seenBy('rootAlone', machine, done), { trace, told: [], views })
      }),
      { numRuns },
    )
  })

  it('Q7 run the same in a table actor inside a system', () => {
    fc.assert(
      fc.property(machines, acts, (machine, done) => {
        const { told, ...expected } = seenBy('xstateChild', machine, done)
        const lean = seenBy('leanChild', machine, done)
        expectSame(lean, {
          trace: expected.trace,
          told: told.filter((each) => !isReportOfEnd(each)),
          views: expected.views,
        })
      }),
      { numRuns },
    )
  })
})
