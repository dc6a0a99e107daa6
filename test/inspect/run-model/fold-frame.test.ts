import { describe, expect, it } from 'vitest'
import {
  activeStates,
  type ChartDefinition,
  emptyRunModel,
  type Frame,
  type FrameBody,
  foldFrame,
  type ModelListener,
  type RunModel,
  type RunState,
  type ServerState,
  waitOf,
} from '../../../src/inspect/index.ts'

const node = (id: number, key: string, parent: number | null, kind: 'atomic' | 'parallel' | 'compound' = 'atomic') => ({
  id,
  key,
  parent,
  kind,
  initial: null,
  entry: [],
  exit: [],
  tags: [],
})

const chart: ChartDefinition = {
  id: 'executor',
  transitions: [],
  nodes: [
    node(0, 'executor', null, 'parallel'),
    node(1, 'gate', 0, 'compound'),
    node(2, 'open', 1),
    node(3, 'run', 0, 'compound'),
    node(4, 'clear', 3),
    node(5, 'discarded', 3),
  ],
}
const run: FrameBody = { type: 'run', title: 't', isLate: true, maxConcurrency: 2, root: 'x' }
const root: FrameBody = {
  type: 'actor',
  actor: 'x',
  chart: 'executor',
  parent: null,
  active: [0, 1, 2, 3, 4],
  context: {},
}
const call = (id: string, index: number, more: Partial<Extract<FrameBody, { type: 'call' }>> = {}): FrameBody => ({
  type: 'call',
  call: id,
  actor: `actor of ${id}`,
  index,
  name: id,
  label: id,
  input: {},
  lane: 'shared',
  stage: 'queued',
  stopsAtInterrupt: false,
  ...more,
})
const discard: FrameBody = {
  type: 'step',
  actor: 'x',
  event: 'abort.streamingFallback',
  transitions: [],
  active: [0, 1, 2, 3, 5],
}

/** The model after frames of run 1, and the listener's calls. */
function fold(...bodies: (FrameBody & { run?: number })[]) {
  const told: unknown[] = []
  const tell = (what: string) => (of: { id?: string } | undefined) => void told.push([what, of?.id])
  const cast = { newActor: <State>(state: State) => state, onActor: tell('actor'), onStep: tell('step') }
  const listener: ModelListener<RunState, ServerState> = {
    newRun: (state) => state,
    newServer: (state) => state,
    server: cast,
    run: {
      ...cast,
      newCall: (state) => state,
      onCall: (of, _, { isPicture }) => void told.push(['call', of.id, isPicture]),
      onStage: (of, before) => void told.push(['stage', of.id, before, of.stage, of.lane]),
      onWaits: (_, { waits }) => void told.push(['waits', waits.length]),
      onDiscarded: () => void told.push(['discarded']),
      onLeft: () => void told.push(['left']),
      onAbort: tell('abort'),
      onEnding: tell('ending'),
      onProgress: tell('progress'),
      onResult: tell('result'),
    },
  }
  const model: RunModel = emptyRunModel()
  for (const [seq, body] of bodies.entries()) {
    foldFrame(model, { seq, at: seq, run: 1, ...body } as Frame, listener)
  }
  return { model, told, run: model.runs.get(1) as RunState }
}

describe('a frame changes the run model', () => {
  it('and the listener is called after that, in order', () => {
    const { told, run: of } = fold(
      run,
      { type: 'chart', chart },
      root,
      call('a', 0),
      {
        type: 'schedule',
        stages: [
          ['a', 'executing', 'exclusive'],
          ['a', 'executing', 'exclusive'],
        ],
        waits: [],
      },
      call('b', 1),
      { type: 'progress', call: 'a', count: 1, data: 1 },
      { type: 'ending', call: 'a', by: 'result', kind: null, reached: null },
      { type: 'schedule', stages: [['a', 'completed', 'exclusive']] },
      { type: 'result', call: 'a', message: 'tool_result', isError: false, content: 'x' },
      discard,
      { type: 'left' },
    )
    expect(told).toEqual([
      ['actor', 'x'],
      ['call', 'a', true],
      ['stage', 'a', 'queued', 'executing', 'exclusive'],
      ['waits', 0],
      ['call', 'b', false],
      ['progress', 'a'],
      ['ending', 'a'],
      ['stage', 'a', 'executing', 'completed', 'exclusive'],
      ['result', 'a'],
      ['step', 'x'],
      ['discarded'],
      ['left'],
    ])
    expect(of).toMatchObject({ isDiscarded: true, isWatched: false, isPicture: false })
    expect(of.byActor.get('actor of a')).toBe(of.calls[0])
    expect([...of.executing]).toEqual([])
    expect(of.calls[0]?.results.map(({ content }) => content)).toEqual(['x'])
  })

  it('which can be copied at any moment', () => {
    const { model } = fold(run, { type: 'chart', chart }, root, call('a', 0))
    const copy = structuredClone(model)
    expect(copy).toEqual(model)
    const of = copy.runs.get(1)
    expect(of?.byActor.get('actor of a')).toBe(of?.byId.get('a'))
  })

  it('Q5 finds why a call waits by its index', () => {
    const waits = [
      { because: 'full' as const, blockers: ['x'], calls: [[0, 1] as const, [3, 3] as const] },
      { because: 'held' as const, blockers: [], calls: [[2, 2] as const] },
    ]
    const { run: of } = fold(run, ...['a', 'b', 'c', 'd', 'e'].map((id, at) => call(id, at)), {
      type: 'schedule',
      waits,
    })
    expect(of.calls.map(({ index }) => waitOf(of, index)?.because)).toEqual(['full', 'full', 'held', 'full', undefined])
  })

  it('resets a run that is shown again, and keeps gaps', () => {
    const { model, run: of } = fold(run, call('a', 0), { type: 'gap', because: 'slow', lost: 7, run: 0 }, run)
    expect(of.calls).toEqual([])
    expect(model).toMatchObject({ gaps: [{ seq: 2, because: 'slow', lost: 7 }], seq: 3, at: 3, latestRun: 1 })
  })

  it('knows which calls wait for a server, and since when', () => {
    const waiting = (id: string, isWaiting: boolean): FrameBody => ({ type: 'waiting', call: id, isWaiting })
    const { model } = fold(
      { type: 'server', name: 'files', root: 'y' },
      waiting('a', true),
      waiting('b', true),
      waiting('a', true),
      waiting('b', false),
    )
    expect([...(model.servers.get(1)?.waiting ?? [])]).toEqual([['a', 1]])
  })
})

describe('a frame that does not fit', () => {
  it('is ignored: calls out of order, unknown calls and actors, endless ranges', () => {
    const { told, run: of } = fold(
      { type: 'schedule', stages: [['a', 'executing', 'shared']] },
      run,
      call('z', 1_000_000_000),
      call('a', 0),
      call('b', 0),
      { type: 'step', actor: 'nobody', event: '', transitions: [], active: [1] },
      { type: 'schedule', stages: [['nobody', 'executing', 'shared']] },
      { type: 'schedule', waits: [{ because: 'full', blockers: [], calls: [[0, 1e15]] }] },
      { type: 'ending', call: 'nobody', by: 'result', kind: null, reached: null },
      { type: 'result', call: 'nobody', message: 'tool_result', isError: false, content: '' },
      {
        type: 'abort',
        layer: 'call',
        call: 'nobody',
        from: 'executor',
        event: '',
        cause: { kind: 'sibling_error', reason: '' },
      },
    )
    expect(told).toEqual([
      ['call', 'a', true],
      ['waits', 1],
    ])
    expect(of.calls.map(({ id }) => id)).toEqual(['a'])
    expect([...of.executing]).toEqual([])
  })

  it('for a call that is known only renames it', () => {
    const { told, run: of } = fold(run, call('a', 0), call('a', 5, { label: 'A', stage: 'yielded' }))
    expect(told).toEqual([['call', 'a', true]])
    expect(of.calls).toMatchObject([{ label: 'A', index: 0, stage: 'queued' }])
  })
})

describe('active states', () => {
  it('are named from the outside in, by path, and by the innermost', () => {
    expect(activeStates(chart, [0, 1, 2, 3, 5])).toEqual({
      names: ['gate', 'open', 'run', 'discarded'],
      paths: ['gate.open', 'run.discarded'],
      innermost: 'discarded',
      phase: 'discarded',
    })
    const none = { names: [], paths: [], innermost: '', phase: '' }
    expect(activeStates(undefined, [0])).toEqual(none)
    expect(activeStates(chart, [77])).toEqual(none)
  })

  it('are the phase calling, wherever the body runs', () => {
    const nodes = [node(0, 'call', null), node(1, 'executing', 0), node(2, 'calling', 1), node(3, 'sent', 2)]
    const states = activeStates({ ...chart, nodes }, [0, 1, 2, 3])
    expect([states.innermost, states.phase]).toEqual(['sent', 'calling'])
  })

  it('of a chart with a cycle of parents are computed in finite time', () => {
    const circle: ChartDefinition = { ...chart, nodes: [node(0, 'a', 1), node(1, 'b', 0), node(2, 'c', 1)] }
    expect(activeStates(circle, [2]).paths[0]).toMatch(/\.b\.c$/)
  })
})
