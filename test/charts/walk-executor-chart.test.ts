import { describe, expect, it } from 'vitest'
import { fromTransition } from 'xstate'
import { TestModel } from 'xstate/graph'
import { executorChart } from '../../machines/index.ts'
import { TakenTransitions } from './chart-transitions.ts'
import { kinds, type Move, ReplayedRun } from './replayed-run.ts'

const maxCalls = 2

/** A state of the walk; equal views are one state. */
interface Walked {
  readonly story: readonly Move[]
  readonly view: string
  readonly stages: readonly string[]
  /** The calls with an open question. */
  readonly asking: readonly boolean[]
  /** Charts that are in this state now. The first move that leaves it takes them along; later moves replay the story. */
  live: Beside | undefined
}

const taken = new TakenTransitions()

/** The same moves on the table and on XState. */
class Beside {
  readonly story: Move[] = []
  readonly #byTable = new ReplayedRun([], taken)
  readonly #byXState = new ReplayedRun([], undefined, executorChart())
  #compared = 0

  constructor(story: readonly Move[]) {
    for (const move of story) this.#play(move)
  }

  #play(move: Move): void {
    this.story.push(move)
    this.#byTable.play(move)
    this.#byXState.play(move)
  }

  /** Plays one more move, if any, and compares all that happened. */
  walk(move?: Move): Walked {
    if (move !== undefined) this.#play(move)
    const [table, xstate] = [this.#byTable, this.#byXState]
    assertInvariants(table, this.story)
    expectEqual([table.view, table.steps.slice(this.#compared)], [xstate.view, xstate.steps.slice(this.#compared)])
    this.#compared = table.steps.length
    const { calls } = table.run
    return {
      story: [...this.story],
      view: JSON.stringify(table.view),
      stages: calls.map(({ stage }) => stage),
      asking: calls.map(({ ref }) => ref?.getSnapshot().matches({ executing: { permission: 'asking' } }) === true),
      live: this,
    }
  }
}

function walkOn(walked: Walked, move: Move): Walked {
  const live = walked.live ?? new Beside(walked.story)
  const next = live.walk(move)
  if (next.view === walked.view) {
    walked.live = live
    return walked
  }
  walked.live = undefined
  return next
}

/** `toEqual()` on every step of the walk would take most of its time. */
function expectEqual(one: unknown, other: unknown): void {
  if (JSON.stringify(one) !== JSON.stringify(other)) expect(one).toEqual(other)
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
  const must = (holds: boolean, rule: string): void => {
    if (!holds) expect.fail(`${rule}, after ${JSON.stringify(story)}`)
  }
  const executing = run.calls.filter(({ stage }) => stage === 'executing')
  must(executing.length === run.executing.size, 'the schedule knows what runs')
  must(executing.length === 1 || executing.every(({ isSafe }) => isSafe), 'an unsafe call runs alone')
  must(executing.length - run.paused.size <= run.maxConcurrency, 'no more calls run than may')
  for (const call of run.paused) must(call.stage === 'executing', 'only a call that runs is paused')
  const expectedGate = executing.length === 0 ? 'open' : executing[0]?.isSafe === true ? 'shared' : 'exclusive'
  must(gate === expectedGate, `the gate is ${expectedGate} and not ${gate}`)
  must(
    run.calls.slice(0, run.cursor).every(({ stage }) => stage === 'yielded'),
    'everything before the cursor was handed over',
  )
  must(
    port.handed.every((id, index) => index === 0 || (port.handed[index - 1] as string) <= id),
    'results are in order',
  )
  must(new Set(port.settled).size === port.settled.length, 'no call ends twice')
  for (const call of run.calls) {
    const value = call.ref?.getSnapshot().value
    const inChart = typeof value === 'string' ? value : Object.keys(value ?? {})[0]
    must(inChart === (call.stage === 'held' ? 'queued' : call.stage), `the chart of a call is in ${call.stage}`)
  }
  if (state === 'aborted' || state === 'siblingErrored' || state === 'discarded') {
    must(run.queue.next === undefined, 'nothing waits after the end')
  }
}

describe('the executor chart', () => {
  it('Q4 Q5 Q6 Q7 Y1 A1 every reachable state of two calls of every kind keeps the rules, and the table does what XState does', () => {
    const logic = fromTransition<Walked, Move, never, never>(
      (walked, move) => walkOn(walked, move),
      new Beside([]).walk(),
    )
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

  it('K4 a call whose input changed goes on if it may, and the executor knows its keys', () => {
    const story: Move[] = [{ type: 'addFree' }, { type: 'changeInput', index: 0 }]
    const { stages, asking } = new Beside(story).walk()
    expect([stages, asking]).toEqual([['executing'], [false]])
    const { steps } = new ReplayedRun(story, taken)
    expect(steps).toContainEqual(['executor', 'call.rekeyed', 'executor.gate call.rekeyed '])
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
