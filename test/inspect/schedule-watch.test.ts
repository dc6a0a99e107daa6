import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CallRecord, type ExecutorSchedule, explainAdmission } from '../../machines/index.ts'
import type { WaitGroup } from '../../src/inspect/index.ts'
import { ScheduleWatch } from '../../src/inspect/recorder/schedule-watch.ts'
import { kinds, type Move, ReplayedRun } from '../charts/replayed-run.ts'

/** Why each call waits, computed one by one. */
function askedOneByOne(run: ExecutorSchedule): Record<string, unknown> {
  const waiting = run.calls.filter(({ stage, port }) => (stage === 'queued' || stage === 'held') && !port.isAnswered)
  return Object.fromEntries(
    waiting.flatMap((call) => {
      const admission = explainAdmission(call, run)
      return admission.ok ? [] : [[call.id, [admission.because, admission.blockers]]]
    }),
  )
}

const spreadOut = (groups: readonly WaitGroup[], calls: readonly CallRecord[]): Record<string, unknown> =>
  Object.fromEntries(
    groups.flatMap(({ because, blockers, calls: ranges }) =>
      ranges.flatMap(([from, to]) => calls.slice(from, to + 1).map(({ id }) => [id, [because, blockers]])),
    ),
  )

it('Q4 gives each waiting call in a group the same reason as the rule gives it alone, after every step', () => {
  const index = fc.nat(7)
  const move: fc.Arbitrary<Move> = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(kinds)).map((kind) => ({ type: 'add', kind }) as Move) },
    { weight: 4, arbitrary: index.map((at) => ({ type: 'settle', index: at }) as Move) },
    { weight: 3, arbitrary: index.map((at) => ({ type: 'release', index: at }) as Move) },
    { weight: 2, arbitrary: index.map((at) => ({ type: 'allow', index: at }) as Move) },
    { weight: 1, arbitrary: index.map((at) => ({ type: 'becomeUnsafe', index: at }) as Move) },
    { weight: 1, arbitrary: index.map((at) => ({ type: 'withdraw', index: at }) as Move) },
    { weight: 2, arbitrary: fc.constant<Move>({ type: 'take' }) },
    { weight: 1, arbitrary: fc.constantFrom<Move>({ type: 'interrupt' }, { type: 'abort' }, { type: 'sibling' }) },
  )
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (story) => {
      const played = new ReplayedRun([])
      const watch = new ScheduleWatch(played.run)
      let waits = watch.begin().waits ?? []
      for (const each of story) {
        played.play(each)
        for (const call of played.run.calls) waits = watch.change(call, false)?.waits ?? waits
        const asked = askedOneByOne(played.run)
        expect(spreadOut(waits, played.run.calls)).toEqual(asked)
        expect(spreadOut(new ScheduleWatch(played.run).begin().waits ?? [], played.run.calls)).toEqual(asked)
      }
    }),
    { numRuns: 500 },
  )
})
