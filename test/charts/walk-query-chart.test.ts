import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { TestModel } from 'xstate/graph'
import {
  type QueryEnding,
  type QueryEvent,
  type QueryMachine,
  type QueryPort,
  queryChart,
} from '../../machines/index.ts'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { expectEqual } from '../support/expect-equal.ts'
import { TakenTransitions } from './chart-transitions.ts'

const queryLogic = compileChart(queryChart())

type Facts = Pick<
  QueryPort,
  | 'hasOpenTurn'
  | 'hasOpenCalls'
  | 'isHookStopped'
  | 'needsAnotherTurn'
  | 'awaitsBackground'
  | 'isLastTurn'
  | 'needsReserve'
>

const usual: Facts = {
  hasOpenTurn: false,
  hasOpenCalls: false,
  isHookStopped: false,
  needsAnotherTurn: false,
  awaitsBackground: false,
  isLastTurn: false,
  needsReserve: false,
}

const facts: Record<string, Facts> = {
  'has nothing more to do': usual,
  'is expected to go on': { ...usual, needsAnotherTurn: true },
  'has had its last turn': { ...usual, needsAnotherTurn: true, isLastTurn: true },
  'is stopped by a hook': { ...usual, isHookStopped: true, needsAnotherTurn: true, isLastTurn: true },
  'waits for a background call': { ...usual, awaitsBackground: true },
  'has limits': { ...usual, needsAnotherTurn: true, needsReserve: true },
  'begins with open calls': { ...usual, hasOpenCalls: true },
  'begins with an open turn': { ...usual, hasOpenTurn: true, needsAnotherTurn: true },
}

/** Exhaustive by type: a new event does not compile until it has samples. */
const samples: { [Type in QueryEvent['type']]: Extract<QueryEvent, { type: Type }>[] } = {
  'query.start': [{ type: 'query.start' }],
  'query.abort': ['interrupt', 'escape'].map((reason) => ({ type: 'query.abort', reason })),
  'query.steer': [{ type: 'query.steer' }],
  'turn.prepared': [{ type: 'turn.prepared' }],
  'reserve.granted': [{ type: 'reserve.granted' }],
  'limit.reached': [{ type: 'limit.reached', reached: { limit: 'turns', used: 9, max: 9 } }],
  'limit.stop': [{ type: 'limit.stop', reached: { limit: 'durationMs', used: 8, max: 8 } }],
  'turn.failed': [{ type: 'turn.failed', error: 'unprepared' }],
  'stream.ended': [true, false].map((isWhole) => ({ type: 'stream.ended', isWhole })),
  'stream.refused': [{ type: 'stream.refused' }],
  'stream.restarted': [true, false].map((hasEffects) => ({ type: 'stream.restarted', hasEffects })),
  'stream.failed': (['retry', 'fallBack', 'none'] as const).flatMap((recovery) =>
    [true, false].map((hasEffects) => ({
      type: 'stream.failed' as const,
      recovery,
      error: recovery,
      delayMs: 7,
      hasEffects,
    })),
  ),
  'retry.due': [{ type: 'retry.due' }],
  'results.drained': [{ type: 'results.drained' }],
  'turn.recovered': (['preparing', 'draining', 'deciding'] as const).map((next) => ({
    type: 'turn.recovered',
    next,
  })),
  'query.suspend': [{ type: 'query.suspend', graceMs: 5 }],
  'suspend.due': [{ type: 'suspend.due' }],
  'calls.stalled': [{ type: 'calls.stalled' }],
  'tools.halted': [{ type: 'tools.halted' }],
  'background.finished': [{ type: 'background.finished' }],
  'message.sent': [{ type: 'message.sent' }],
  'journal.failed': [{ type: 'journal.failed', error: 'no space' }],
}
const events = Object.values(samples).flat() as QueryEvent[]

/** A port that records its requests. */
function scriptedPort(given: Facts): QueryPort & { readonly asked: unknown[] } {
  const asked: unknown[] = []
  const note =
    (what: string) =>
    (...details: unknown[]) =>
      void asked.push([what, ...details])
  return {
    ...given,
    asked,
    prepare: note('prepare'),
    reserve: note('reserve'),
    leaveReserve: note('leaveReserve'),
    stopForLimit: note('stopForLimit'),
    recover: note('recover'),
    startSuspendGrace: note('startSuspendGrace'),
    haltTools: note('haltTools'),
    abandon: note('abandon'),
    runOpenCalls: note('runOpenCalls'),
    discardRefusal: note('discardRefusal'),
    cutReply: note('cutReply'),
    openStream: note('openStream'),
    stopModel: note('stopModel'),
    discardAttempt: note('discardAttempt'),
    discardReply: note('discardReply'),
    startBackoff: note('startBackoff'),
    useFallback: note('useFallback'),
    closeReply: note('closeReply'),
    abortTools: note('abortTools'),
    drain: note('drain'),
    conclude: (ending: QueryEnding) => void asked.push(['conclude', ending]),
  }
}

function played(logic: QueryMachine, given: Facts, story: readonly QueryEvent[], taken?: TakenTransitions) {
  const port = scriptedPort(given)
  const actor = createActor(logic, { input: { port } })
  taken?.watch(actor.system as never)
  actor.start()
  for (const event of story) if (actor.getSnapshot().status === 'active') actor.send(event)
  const { value, status, context } = actor.getSnapshot()
  return { value, status, abort: context.abort, error: context.error, asked: port.asked }
}

/** Every event in every state: the shortest path there, then the event. */
function everyEdge(given: Facts): QueryEvent[][] {
  const model = new TestModel<never, never, never>(
    queryChart() as never,
    {
      input: { port: scriptedPort(given) },
      events: events as never,
      serializeState: (({
        value,
        context,
      }: {
        value: unknown
        context: { abort: unknown; error: unknown; isSuspending: boolean }
      }) => JSON.stringify([value, context.abort, context.error, context.isSuspending])) as never,
    } as never,
  )
  const ways = model.getShortestPaths({ allowDuplicatePaths: true } as never)
  return ways.flatMap((way) => {
    const story = way.steps
      .map(({ event }) => event as QueryEvent)
      .filter(({ type }) => events.some((each) => each.type === type))
    return events.map((event) => [...story, event])
  })
}

describe('the query chart', () => {
  const taken = new TakenTransitions()

  it.each(
    Object.entries(facts),
  )('L4 L5 L6 L7 of a query that %s: every event in every state leads where XState says', (_, given) => {
    const stories = everyEdge(given)
    expect(stories.length).toBeGreaterThan(100)
    for (const story of stories) {
      const table = played(queryLogic, given, story, taken)
      expectEqual([story, table], [story, played(queryChart(), given, story)])
      // whatever happens, it ends once and reports its end once
      const ends = table.asked.filter((what) => (what as [string])[0] === 'conclude')
      expectEqual([story, ends.length], [story, table.status === 'done' ? 1 : 0])
    }
  })

  it('L4 leaves no transition untaken', () => {
    expect(taken.missing(queryChart())).toEqual([])
  })

  const ends = (story: QueryEvent[], given: Facts = facts['has nothing more to do'] as Facts) =>
    played(queryLogic, given, story)
  const reached = { limit: 'durationMs', used: 8, max: 8 } as const
  const start: QueryEvent[] = [{ type: 'query.start' }, { type: 'turn.prepared' }]
  const fail = (recovery: 'retry' | 'fallBack' | 'none', hasEffects = false): QueryEvent => ({
    type: 'stream.failed',
    recovery,
    error: 'e',
    delayMs: 7,
    hasEffects,
  })

  it.each<[string, QueryEvent[], string, unknown[]]>([
    [
      'one turn',
      [...start, { type: 'stream.ended', isWhole: true }, { type: 'results.drained' }],
      'completed',
      [['prepare'], ['openStream'], ['closeReply', true], ['drain'], ['conclude', { reason: 'completed' }]],
    ],
    [
      'another attempt',
      [...start, fail('retry'), { type: 'retry.due' }],
      'preparing',
      [['prepare'], ['openStream'], ['discardAttempt'], ['startBackoff', 7], ['prepare']],
    ],
    [
      'the other model',
      [...start, fail('fallBack')],
      'retrying',
      [['prepare'], ['openStream'], ['useFallback'], ['discardAttempt'], ['startBackoff', 7]],
    ],
    [
      'another attempt after something was done: a turn of its own',
      [...start, fail('retry', true), { type: 'results.drained' }, { type: 'retry.due' }],
      'preparing',
      [['prepare'], ['openStream'], ['cutReply'], ['drain'], ['startBackoff', 7], ['prepare']],
    ],
    [
      'the other model after something was done',
      [...start, fail('fallBack', true), { type: 'results.drained' }],
      'retrying',
      [['prepare'], ['openStream'], ['useFallback'], ['cutReply'], ['drain'], ['startBackoff', 7]],
    ],
    [
      'a reply that begins again after something was done',
      [...start, { type: 'stream.restarted', hasEffects: true }, { type: 'results.drained' }],
      'retrying',
      [['prepare'], ['openStream'], ['stopModel'], ['cutReply'], ['drain'], ['startBackoff', 0]],
    ],
    [
      'a refusal',
      [...start, { type: 'stream.refused' }, { type: 'results.drained' }],
      'completed',
      [['prepare'], ['openStream'], ['discardRefusal'], ['drain'], ['conclude', { reason: 'completed' }]],
    ],
    [
      'a model that failed for good',
      [...start, fail('none'), { type: 'results.drained' }],
      'modelError',
      [
        ['prepare'],
        ['openStream'],
        ['closeReply', false],
        ['drain'],
        ['conclude', { reason: 'model_error', error: 'e' }],
      ],
    ],
    [
      'an abort in the stream',
      [...start, { type: 'query.abort', reason: 'x' }, { type: 'results.drained' }],
      'abortedStreaming',
      [
        ['prepare'],
        ['openStream'],
        ['stopModel'],
        ['abortTools', 'x'],
        ['closeReply', false],
        ['drain'],
        ['conclude', { reason: 'aborted_streaming', abortReason: 'x' }],
      ],
    ],
    [
      'time that is up in the stream',
      [...start, { type: 'limit.stop', reached }, { type: 'limit.reached', reached }, { type: 'results.drained' }],
      'limited',
      [
        ['prepare'],
        ['openStream'],
        ['stopModel'],
        ['stopForLimit'],
        ['closeReply', false],
        ['drain'],
        ['conclude', { reason: 'limit', ...reached }],
      ],
    ],
    [
      'a message with an interrupt while the request is prepared',
      [{ type: 'query.start' }, { type: 'query.steer' }, { type: 'turn.prepared' }, { type: 'turn.prepared' }],
      'streaming',
      [['prepare'], ['prepare'], ['openStream']],
    ],
    [
      'steering',
      [...start, { type: 'query.steer' }],
      'draining',
      [['prepare'], ['openStream'], ['stopModel'], ['abortTools', 'interrupt'], ['closeReply', false], ['drain']],
    ],
  ])('L4 L5 L6 L7 %s', (_, story, value, asked) => {
    expect(ends(story)).toMatchObject({ value, asked })
  })

  it('U2 a request waits for its reserve, and is made again with a message that comes meanwhile', () => {
    const limited = facts['has limits'] as Facts
    const story: QueryEvent[] = [
      ...start,
      { type: 'message.sent' },
      { type: 'turn.prepared' },
      { type: 'reserve.granted' },
    ]
    const asked = [
      ['prepare'],
      ['reserve'],
      ['leaveReserve'],
      ['prepare'],
      ['reserve'],
      ['leaveReserve'],
      ['openStream'],
    ]
    expect(ends(story, limited)).toMatchObject({ value: 'streaming', asked })
  })
})
