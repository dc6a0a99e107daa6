import { describe, expect, it } from 'vitest'
import {
  type CallRecord,
  deliverableOf,
  type ExecutorSchedule,
  explainAdmission,
  laneOf,
} from '../../../machines/index.ts'
import type { StreamingToolExecutor } from '../../../src/index.ts'
import {
  activeStates,
  createRecorder,
  type Frame,
  foldRun,
  newRunState,
  type RunListener,
  type RunState,
  waitOf,
} from '../../../src/inspect/index.ts'
import { HeldWorld } from '../../../src/testing/held-world.ts'
import { troublesomeTools } from '../../../src/testing/index.ts'
import type { PlayableWorld } from '../../../src/testing/playable-world.ts'
import { pickFrom, randomWalk } from '../../../src/testing/random-walk.ts'
import { digestOf, randomFrom } from '../../../src/testing/repeatable.ts'
import type { TurnSetup } from '../../../src/testing/turn-setup.ts'

const keep: RunListener = { newActor: (state) => state, newCall: (state) => state }

/** The executor's own state, read directly. */
function reportOf(executor: StreamingToolExecutor) {
  const { context, value } = executor.actor.getSnapshot()
  const { calls, executing, cursor, completedUpTo } = context.run
  const next = deliverableOf(context.run)
  const { gate, run } = value as { gate: string; run: string }
  return {
    calls: calls.map((call) => [call.id, call.stage, laneOf(call)]),
    executing: Array.from(executing, ({ id }) => id).sort(),
    cursor: { next: cursor, completedUpTo, waitsFor: next.ready || !('waitsFor' in next) ? null : next.waitsFor },
    // a discarded run reports no waits
    waits: run === 'discarded' ? [] : calls.flatMap((call) => waitIn(call, context.run)),
    states: [`gate.${gate}`, `run.${run}`],
    isDiscarded: run === 'discarded',
    endings: calls.map(({ ref }) => ref?.getSnapshot().context.ending?.by),
  }
}

function waitIn(call: CallRecord, run: ExecutorSchedule) {
  const why = call.stage === 'queued' || call.stage === 'held' ? explainAdmission(call, run) : undefined
  return why === undefined || why.ok ? [] : [[call.id, why.because, why.blockers]]
}

/** The same from the model. */
function reportFrom(run: RunState) {
  const root = run.actors.get(run.root)
  return {
    calls: run.calls.map(({ id, stage, lane }) => [id, stage, lane]),
    executing: [...run.executing].sort(),
    cursor: run.cursor,
    waits: run.isDiscarded
      ? []
      : run.calls.flatMap(({ id, index }) => {
          const why = waitOf(run, index)
          return why === undefined ? [] : [[id, why.because, why.blockers]]
        }),
    states: activeStates(run.charts.get(root?.chart ?? ''), root?.active ?? []).paths,
    isDiscarded: run.isDiscarded,
    endings: run.calls.map(({ ending }) => ending?.by),
  }
}

function randomSetup(random: () => number): TurnSetup {
  const tools = troublesomeTools()
  const names = [...tools.map(({ name }) => name), 'Nowhere']
  return {
    tools,
    calls: Array.from({ length: 1 + Math.floor(random() * 8) }, () => ({
      tool: pickFrom(names, random),
      ...(random() < 0.2 && { hold: true }),
    })),
    phases: random() < 0.5 ? 'all' : 'bodies',
    arrival: random() < 0.5 ? 'together' : 'anyTime',
    happenings: { hostAbort: true, rewrite: true, modifier: true, reader: 2 },
    options: { maxConcurrency: 1 + Math.floor(random() * 4), abortGraceMs: 100, maxBufferedProgress: 10 },
  }
}

/** Follows a world with a recorder from a random move on, and compares between steps. */
class Comparison {
  compared = 0
  readonly problems: string[] = []
  readonly #world: HeldWorld
  #run: RunState | undefined

  constructor(world: HeldWorld) {
    this.#world = world
  }

  attach(): void {
    createRecorder({ onFrame: (frame) => this.#take(frame) }).watch(this.#world.executor)
  }

  compare(where: string): void {
    if (this.#run === undefined) return
    this.compared++
    const [told, folded] = [reportOf(this.#world.executor), reportFrom(this.#run)].map((each) => JSON.stringify(each))
    if (told !== folded) this.problems.push(`${where}\n  executor ${told}\n  model    ${folded}`)
  }

  #take(frame: Frame): void {
    // an event from outside arrives between steps
    if (frame.type === 'event' && frame.from === null) this.compare(`before frame ${frame.seq}, ${frame.event}`)
    if (frame.type === 'run') this.#run = newRunState(frame)
    else if (this.#run !== undefined) foldRun(this.#run, frame, keep)
  }
}

async function play(seed: string, isLate: boolean): Promise<Comparison> {
  const random = randomFrom(digestOf(seed))
  const world = new HeldWorld(randomSetup(random))
  const comparison = new Comparison(world)
  let movesLeft = isLate ? Math.floor(random() * 12) : 0
  if (movesLeft === 0) comparison.attach()
  const watched: PlayableWorld = {
    moves: () => world.moves(),
    fingerprint: () => world.fingerprint(),
    get isAtEnd() {
      return world.isAtEnd
    },
    catchUp: () => world.catchUp(),
    rankOf: (move) => world.rankOf(move),
    judge() {
      comparison.compare('after a move')
      if (movesLeft > 0 && --movesLeft === 0) comparison.attach()
      return world.judge()
    },
  }
  await randomWalk(watched, 40, random, (name) => (name.startsWith('the ') ? 1 : 8))
  return comparison
}

describe('the run model', () => {
  it.each([
    ['from the first frame', false],
    ['where the recorder came late', true],
  ] as const)('Q1 Q4 Q7 Y1 matches the executor, %s, between all steps', async (_, isLate) => {
    let compared = 0
    for (let run = 0; run < 120; run++) {
      const { problems, compared: more } = await play(`${isLate} ${run}`, isLate)
      expect([run, problems.slice(0, 1)]).toEqual([run, []])
      compared += more
    }
    expect(compared).toBeGreaterThan(1_000)
  })
})
