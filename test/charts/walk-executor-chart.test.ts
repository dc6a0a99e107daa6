import { describe, expect, it } from 'vitest'
import { fromTransition } from 'xstate'
import { TestModel } from 'xstate/graph'
import { executorChart } from '../../machines/index.ts'
import { TakenTransitions } from './chart-transitions.ts'
import { kinds, type Move, ReplayedRun } from './replayed-run.ts'

const maxCalls = 2

/** A state of the walk is the sequence of events that leads to it; equal views are one state. */
interface Walked {
  readonly story: readonly Move[]
  readonly view: string
  readonly stages: readonly string[]
  /** The calls with an open question. */
  readonly asking: readonly boolean[]
}

const taken = new TakenTransitions()

function walk(story: readonly Move[]): Walked {
  const replayed = new ReplayedRun(story, taken)
  assertInvariants(replayed, story)
  const byXState = new ReplayedRun(story, undefined, executorChart())
  expect([replayed.view, replayed.steps]).toEqual([byXState.view, byXState.steps])
  const { calls } = replayed.run
  return {
    story,
    view: JSON.stringify(replayed.view),
    stages: calls.map(({ stage }) => stage),
    asking: calls.map(({ ref }) => ref?.getSnapshot().matches({ executing: { permission: 'asking' } }) === true),
  }
}

/** Events of a body are possible only while it runs; all others may be tried at any time. */
function movesFrom({ stages, asking }: Walked): Move[] {
  const fromBody = ['settle', 'cascade'] as const
  const fromHost = ['pend', 'allow', 'becomeUnsafe'] as const
  const adds = stages.length < maxCalls ? (Object.keys(kinds) as (keyof typeof kinds)[]) : []
  return [
    ...adds.map((kind): Move => ({ type: 'add', kind })),
    ...stages.flatMap((stage, index) =>
      (stage !== 'executing' ? (['release', 'withdraw'] as const) : asking[index] ? fromHost : fromBody).map(
        (type): Move => ({ type, index }),
      ),
    ),
    ...(['interrupt', 'abort', 'sibling', 'fallback', 'take', 'cut', 'grace'] as const).map((type): Move => ({ type })),
  ]
}

function assertInvariants({ run, port, gate, state }: ReplayedRun, story: readonly Move[]): void {
  const executing = run.calls.filter(({ stage }) => stage === 'executing')
  const hint = JSON.stringify(story)
  expect(executing.length, hint).toBe(run.executing.size)
  if (executing.some(({ isSafe }) => !isSafe)) expect(executing, hint).toHaveLength(1)
  expect(executing.length - run.paused.size, hint).toBeLessThanOrEqual(run.maxConcurrency)
  for (const call of run.paused) expect(call.stage, hint).toBe('executing')
  expect(gate, hint).toBe(executing.length === 0 ? 'open' : executing[0]?.isSafe === true ? 'shared' : 'exclusive')
  expect(
    run.calls.slice(0, run.cursor).every(({ stage }) => stage === 'yielded'),
    hint,
  ).toBe(true)
  expect(port.handed, hint).toEqual([...port.handed].sort())
  expect(new Set(port.settled).size, hint).toBe(port.settled.length)
  for (const call of run.calls) {
    const value = call.ref?.getSnapshot().value
    const inChart = typeof value === 'string' ? value : Object.keys(value ?? {})[0]
    expect([inChart, hint]).toEqual([call.stage === 'held' ? 'queued' : call.stage, hint])
  }
  if (state === 'aborted' || state === 'siblingErrored' || state === 'discarded') {
    expect(run.queue.next, hint).toBeUndefined()
  }
}

describe('the executor chart', () => {
  it('Q4 Q5 Q6 Q7 Y1 A1 every reachable state of two calls of every kind keeps the rules, and the table does what XState does', () => {
    const logic = fromTransition<Walked, Move, never, never>((walked, move) => walk([...walked.story, move]), walk([]))
    const model = new TestModel<never, never, never>(
      logic as never,
      {
        events: ((snapshot: { context: Walked }) => movesFrom(snapshot.context)) as never,
        serializeState: ((snapshot: { context: Walked }) => snapshot.context.view) as never,
        limit: Number.POSITIVE_INFINITY,
      } as never,
    )
    const paths = model.getShortestPaths()
    expect(paths.length).toBeGreaterThan(500)
  })

  it('A2 Q4 cancelling named calls, present ones and later ones, leaves no transition untaken', () => {
    for (const before of [[], [{ type: 'interrupt' }], [{ type: 'abort' }]] as const) {
      const story: Move[] = [{ type: 'add', kind: 'safe' }, ...before, { type: 'nameFirst' }, { type: 'addNamed' }]
      const walked = new ReplayedRun(story, taken)
      const byXState = new ReplayedRun(story, undefined, executorChart())
      expect([walked.view, walked.steps]).toEqual([byXState.view, byXState.steps])
      expect(walked.run.calls.map(({ stage }) => stage)).toEqual(['executing', 'completed'])
    }
    expect(taken.missing(executorChart())).toEqual([])
  })
})
