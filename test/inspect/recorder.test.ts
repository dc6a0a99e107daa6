import { describe, expect, it } from 'vitest'
import { callChart, executorChart } from '../../machines/index.ts'
import { query } from '../../src/index.ts'
import { chartOf } from '../../src/inspect/frames/chart-definition.ts'
import {
  checkFrame,
  createRecorder,
  type Frame,
  frameLine,
  type Recorder,
  type RecorderOptions,
  readFrames,
} from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { describeCall } from '../../src/tool/describe-call.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

type Of<Type extends Frame['type']> = Extract<Frame, { type: Type }>
const ofType = <Type extends Frame['type']>(frames: readonly Frame[], type: Type): Of<Type>[] =>
  frames.filter((frame): frame is Of<Type> => frame.type === type)

const recorded = (options: Partial<Parameters<typeof createRecorder>[0]> = {}) => {
  const frames: Frame[] = []
  return { frames, recorder: createRecorder({ onFrame: (frame) => frames.push(frame), ...options }) }
}

async function* lines(frames: readonly Frame[]): AsyncGenerator<string> {
  for (const frame of frames) yield frameLine(frame)
}

const setUp = (options: Parameters<typeof testTurn>[1] = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true })
  const write = heldTool('Write')
  return { read, write, ...testTurn([read.tool, write.tool], options) }
}

/** The names of an actor's active states, from frames alone. */
function statesOf(frames: readonly Frame[], actor: string): string[] {
  let active: readonly number[] = []
  let chart = ''
  for (const frame of frames) {
    if (frame.type === 'actor' && frame.actor === actor) ({ active, chart } = frame)
    if (frame.type === 'step' && frame.actor === actor && frame.active !== undefined) active = frame.active
  }
  const nodes = ofType(frames, 'chart').find((frame) => frame.chart.id === chart)?.chart.nodes ?? []
  return nodes.filter(({ id }) => active.includes(id)).map(({ key }) => key)
}

describe('the same run', () => {
  it('Y6 produces the same bytes if time, epoch and actor names are given', async () => {
    const linesOf = async () => {
      const names = new Map<unknown, string>()
      const { frames, recorder } = recorded({
        now: () => 0,
        epoch: 7,
        actorId: (actor) => names.get(actor) ?? (names.set(actor, `actor ${names.size}`).get(actor) as string),
      })
      const { executor, add, read } = setUp({ uuid: () => 'the same' })
      recorder.watch(executor)
      add('a', 'Read')
      read.run('a').finish()
      await flush()
      return frames.map(frameLine).join('')
    }
    const first = await linesOf()
    expect(await linesOf()).toBe(first)
    expect(first).toContain('"epoch":7')
    expect(first).toContain('"actor":"actor 1","index":0')
    expect(first).not.toMatch(/"x:\d+"/)
  })

  it('names the call that a sub-agent works for, and accepts only a string', () => {
    const { frames, recorder } = recorded()
    recorder.watch(setUp().executor)
    recorder.watch(setUp().executor, { title: 'Agent', parentToolUseID: 'toolu_1' })
    const runs = ofType(frames, 'run')
    expect(runs.map((frame) => frame.parentToolUseID)).toEqual([undefined, 'toolu_1'])
    expect(ofType(recorder.picture(), 'run').map((frame) => frame.parentToolUseID)).toEqual([undefined, 'toolu_1'])
    expect(checkFrame({ ...runs[1] })).toEqual(runs[1])
    expect(checkFrame({ ...runs[1], parentToolUseID: 5 })).toBe('not a valid run frame')
  })

  it('records breaches and reads them back', async () => {
    const { frames, recorder } = recorded()
    const { executor } = setUp()
    const { run } = recorder.watch(executor)
    recorder.breach(run, { invariant: 'mine', problem: 'it is so' })
    const lines = (async function* () {
      yield frames.map(frameLine).join('')
    })()
    const read: Frame[] = []
    for await (const frame of readFrames(lines)) read.push(frame)
    expect(read.at(-1)).toMatchObject({ type: 'breach', run, invariant: 'mine', problem: 'it is so' })
  })
})

describe('unpublished fields of XState that the recorder needs', () => {
  it('exist: the transitions of a microstep, and the nodes of a snapshot', () => {
    const { executor, add } = setUp()
    const seen: unknown[][] = []
    executor.actor.system.inspect((event) => {
      if (event.type === '@xstate.microstep')
        seen.push(
          event._transitions.map(
            (each) => chartOf(executorChart()).transitionId(each) ?? chartOf(callChart()).transitionId(each),
          ),
        )
    })
    add('a', 'Read')
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.flat().every((id) => typeof id === 'number')).toBe(true)
    expect(executor.actor.getSnapshot()._nodes.every(({ order }) => typeof order === 'number')).toBe(true)
  })
})

describe('the recorder', () => {
  it('costs nothing and keeps nothing while it is not attached', () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    const { leave } = recorder.watch(executor)
    leave()
    leave()
    const count = frames.length
    add('a', 'Read')
    expect(frames).toHaveLength(count)
    expect(frames.at(-1)?.type).toBe('left')
  })

  it('keeps texts in their place among the frames, redacted', async () => {
    const { executor, add } = setUp()
    const redact = (value: unknown, { what }: { what: string }) => (what === 'said' ? `${value}`.slice(0, 5) : value)
    const { frames, recorder } = recorded({ redact })
    const { run } = recorder.watch(executor)
    recorder.say(run, 'model', 'Let me see.')
    add('a', 'Read')
    const order = frames.filter(({ type }) => type === 'said' || type === 'call').map(({ type }) => type)
    expect(order).toEqual(['said', 'call'])
    expect(ofType(frames, 'said')[0]).toMatchObject({ run, by: 'model', text: 'Let m' })
    const read: Frame[] = []
    for await (const frame of readFrames(lines(frames))) read.push(frame)
    expect(ofType(read, 'said')).toEqual(ofType(frames, 'said'))
  })

  it.each([
    [0, [1, 2, 3, 4]],
    [50, [1, 4]],
  ])('with %i ms between progress frames it shows the counts %j', async (progressGapMs, counts) => {
    const { executor, add, read } = setUp()
    const { frames, recorder } = recorded({ progressGapMs, now: () => 0 })
    recorder.watch(executor)
    add('a', 'Read')
    for (const step of [1, 2, 3, 4]) read.run('a').progress(step)
    read.run('a').finish()
    await flush()
    takeAll(executor)
    expect(ofType(frames, 'progress').map(({ count }) => count)).toEqual(counts)
  })

  it('numbers its frames without gaps and begins with the head', () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Read')
    expect(frames[0]).toMatchObject({ type: 'head', version: 1, run: 0 })
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index))
  })

  it('shows the same active states as the snapshots of every actor, at every moment', async () => {
    const { executor, add, read, write } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    const calls = () => executor.actor.getSnapshot().context.run.calls
    const compare = () => {
      for (const ref of [executor.actor, ...calls().map((call) => call.ref)]) {
        if (ref === undefined) continue
        const { _nodes } = ref.getSnapshot() as unknown as { _nodes: { key: string; order: number }[] }
        const inOrder = _nodes.toSorted((a, b) => a.order - b.order)
        expect(statesOf(frames, ref.sessionId)).toEqual(inOrder.map(({ key }) => key))
      }
    }
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Write'],
      ['c', 'Nope'],
      ['d', 'Read'],
    ] as const) {
      add(id, name)
      compare()
    }
    read.run('a').finish()
    await flush()
    compare()
    write.run('b').fail(new Error('no'))
    await flush()
    compare()
    read.run('d').finish()
    await flush()
    takeAll(executor)
    compare()
  })

  it('attached late, it reports the existing calls, states and reasons', () => {
    const { executor, add } = setUp()
    add('a', 'Read')
    add('b', 'Write')
    const { frames, recorder } = recorded()
    recorder.watch(executor, { title: 'late' })
    expect(ofType(frames, 'run')[0]).toMatchObject({ title: 'late', isLate: true, maxConcurrency: 10 })
    expect(ofType(frames, 'call').map(({ call, stage }) => [call, stage])).toEqual([
      ['a', 'executing'],
      ['b', 'queued'],
    ])
    expect(ofType(frames, 'schedule')[0]?.waits).toEqual([
      { because: 'waitsForRunning', blockers: ['a'], calls: [[1, 1]] },
    ])
    const [a] = ofType(frames, 'call')
    expect(statesOf(frames, a?.actor ?? '')).toEqual(['call', 'executing', 'calling', 'here'])
  })

  it('Q4 reports why each call waits and for which calls, for every rule, as explain() does', async () => {
    const { executor, add, read } = setUp({ maxConcurrency: 2 })
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    const seen = new Set<string>()
    const compare = () => {
      const waits = ofType(frames, 'schedule').findLast((frame) => frame.waits !== undefined)?.waits ?? []
      const told = new Map(
        waits.flatMap(({ because, blockers, calls }) =>
          calls.flatMap(([from, to]) =>
            Array.from({ length: to - from + 1 }, (_, at) => [from + at, { ok: false, because, blockers }] as const),
          ),
        ),
      )
      for (const { id, index } of executor.actor.getSnapshot().context.run.calls) {
        expect(told.get(index)).toEqual(executor.explain(id))
      }
      for (const { because } of waits) seen.add(because)
    }
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    compare()
    add('d', 'Read', {}, { hold: true })
    add('e', 'Write')
    add('f', 'Read')
    compare()
    read.run('a').finish()
    await flush()
    compare()
    read.run('b').finish()
    read.run('c').finish()
    await flush()
    compare()
    expect([...seen].sort()).toEqual(['behindUnsafe', 'exclusiveRunning', 'full', 'held', 'waitsForRunning'])
  })

  it('reports on plain XState that guard results are unavailable, and sorts active states', async () => {
    const { executor, add, write } = setUp({ engine: 'xstate' })
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Write')
    write.run('a').finish()
    await flush()
    takeAll(executor)
    expect(ofType(frames, 'run')).toEqual([expect.objectContaining({ guards: 'unavailable' })])
    expect(ofType(frames, 'guards')).toEqual([])
    const lists = ofType(frames, 'step').flatMap(({ active }) => (active === undefined ? [] : [active]))
    expect(lists.length).toBeGreaterThan(4)
    for (const list of lists) expect(list).toEqual([...list].sort((a, b) => a - b))
    for (const frame of frames) expect(checkFrame(frame)).toBeTypeOf('object')
  })

  it('reports which guards passed, failed and were not evaluated', () => {
    const { executor, add } = setUp({ engine: 'table' })
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Write')
    const { definition } = chartOf(executorChart())
    const guards = ofType(frames, 'guards').map(({ candidates }) =>
      candidates.map(([id, answer]) => [definition.transitions[id]?.guard, answer]),
    )
    expect(guards).toContainEqual([
      ['canExecuteTool("exclusive")', 'passed'],
      ['canExecuteTool("shared")', 'notAsked'],
    ])
    add('b', 'Write')
    expect(
      ofType(frames, 'guards')
        .at(-1)
        ?.candidates.map(([, answer]) => answer),
    ).toEqual(['failed'])
  })

  it('Q4 Q5 reports with a failed guard which call it refused, why, and which calls that call waits for', async () => {
    const { executor, add, read } = setUp({ engine: 'table' })
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    const refusals = () => ofType(frames, 'guards').flatMap(({ refusal }) => refusal ?? [])
    add('a', 'Read')
    expect(refusals()).toEqual([])
    add('b', 'Write')
    expect(refusals()).toEqual([{ call: 'b', because: 'waitsForRunning', blockers: ['a'] }])
    // the guard checks the head of the queue again
    add('c', 'Read')
    expect(refusals().slice(1)).toEqual([{ call: 'b', because: 'waitsForRunning', blockers: ['a'] }])
    read.run('a').finish()
    await flush()
    expect(refusals().at(-1)).toEqual({ call: 'c', because: 'exclusiveRunning', blockers: ['b'] })
    const last = ofType(frames, 'guards').findLast(({ refusal }) => refusal !== undefined)
    expect(checkFrame({ ...last, refusal: { call: 1 } })).toBe('not a valid guards frame')
  })

  it('A2 follows an abort from its source to the calls it reached', async () => {
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const read = heldTool('Read', { safe: true, obedient: true })
    const { executor, add } = testTurn([bash.tool, read.tool])
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Bash', { command: 'npm test' })
    add('b', 'Read')
    add('c', 'Read', {}, { hold: true })
    bash.run('a').fail(new Error('exit 1'))
    await flush()
    expect(ofType(frames, 'abort').map(({ layer, call, from, cause }) => [layer, call, from, cause.kind])).toEqual([
      ['executor', 'a', 'call', 'sibling_error'],
      ['call', 'b', 'executor', 'sibling_error'],
      ['call', 'c', 'executor', 'sibling_error'],
    ])
    expect(ofType(frames, 'abort')[0]?.cause.description).toBe('Bash(npm test)')
    const endings = ofType(frames, 'ending').map(({ call, by, kind }) => [call, by, kind])
    expect(endings.sort()).toEqual([
      ['a', 'result', null],
      ['b', 'abort', 'sibling_error'],
      ['c', 'abort', 'sibling_error'],
    ])
  })

  it('Q3 reports a call that is completed on arrival', () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Nope')
    const told = frames.filter((frame) => 'call' in frame && frame.call === 'a').map(({ type }) => type)
    expect(told).toEqual(['call', 'ending'])
    expect(ofType(frames, 'ending')).toMatchObject([{ call: 'a', by: 'answer' }])
  })

  it('Y1 shows cursor, progress and results as readers take them', async () => {
    const { executor, add, read } = setUp()
    const { frames, recorder } = recorded({ now: () => 0 })
    recorder.watch(executor)
    add('a', 'Read')
    add('b', 'Read')
    read.run('b').finish()
    await flush()
    expect(ofType(frames, 'schedule').findLast(({ cursor }) => cursor !== undefined)?.cursor).toEqual({
      next: 0,
      completedUpTo: 0,
      waitsFor: 'a',
    })
    for (let step = 1; step <= 500; step++) read.run('a').progress(step)
    read.run('a').finish()
    await flush()
    takeAll(executor)
    expect(ofType(frames, 'progress').map(({ count, data }) => [count, data])).toEqual([
      [1, 1],
      [500, 500],
    ])
    expect(ofType(frames, 'result').map(({ call, content, isError }) => [call, content, isError])).toEqual([
      ['a', 'a done', false],
      ['b', 'b done', false],
    ])
  })

  it('offers only commands that the chart accepts', () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Read')
    executor.abort('escape')
    executor.discard()
    expect(ofType(frames, 'can').map(({ commands }) => commands)).toEqual([
      ['interrupt', 'abort', 'discard'],
      ['discard'],
      [],
    ])
  })

  it('shows nothing that redact removed, and nothing at all if redact throws', async () => {
    const secret = 'sk-very-secret'
    const { executor, add, read } = setUp()
    const { frames, recorder } = recorded({
      redact: (value, { what }) => {
        if (what === 'result') throw new Error('no')
        return JSON.parse(
          JSON.stringify(value, (key, each) => (key === 'call' ? undefined : each))?.replaceAll(secret, '•••') ??
            'null',
        )
      },
    })
    recorder.watch(executor)
    add('a', 'Read', { command: `curl -H ${secret}` })
    read.run('a').finish({ data: secret })
    await flush()
    takeAll(executor)
    expect(JSON.stringify(frames)).not.toContain(secret)
    expect(ofType(frames, 'result')[0]?.content).toEqual({ $: 'withheld' })
    expect(ofType(frames, 'call')[0]?.label).toBe('Read(curl -H •••)')
  })

  describe('the label of a call', () => {
    const labelOf = (input: Record<string, string>, options: Partial<RecorderOptions> = {}, name = 'Read') => {
      const { executor, add } = setUp()
      const { frames, recorder } = recorded(options)
      recorder.watch(executor)
      add('a', name, input)
      return ofType(frames, 'call').at(-1)?.label ?? ''
    }

    it('T10 has the end of a long path', () => {
      const path = '/home/somebody/projects/shop/packages/cart/src/price.ts'
      expect(describeCall(undefined, 'Read', { file_path: path })).not.toContain('price.ts')
      expect(labelOf({ file_path: path })).toBe(`Read(${path})`)
    })

    it('loses the middle of a very long path, and the end of a very long command', () => {
      const path = labelOf({ file_path: `/start/${'folder/'.repeat(100)}end.ts` })
      expect(path).toMatch(/^Read\(\/start\/(?:.*)…(?:.*)\/end\.ts\)$/)
      expect(path.length).toBe('Read()'.length + 101)
      const command = labelOf({ command: `cd /start && ${'echo a/b '.repeat(100)}` })
      expect(command).toMatch(/^Read\(cd \/start && (?:echo a\/b )+.*…\)$/)
      expect(command.length).toBe('Read()'.length + 101)
      // nobody knows where a path of this length ends
      expect(labelOf({ file_path: `/start/${'folder/'.repeat(1_000)}end.ts` })).toMatch(/…\)$/)
      expect(labelOf({ file_path: path }, { limits: { text: 10 } }).length).toBe('Read()'.length + 11)
    })

    it.each([0, 1, 2, 3])('is not longer than limits.text allows, which is %i here', (text) => {
      for (const file_path of [`/start/${'folder/'.repeat(100)}end.ts`, '/a/😀😀😀😀😀😀😀😀'])
        expect(Array.from(labelOf({ file_path }, { limits: { text } })).length).toBeLessThanOrEqual(
          text + 'Read(…)'.length,
        )
    })

    it('does not show a part of what redact would find in the whole', () => {
      const token = 'a1'.repeat(40)
      const redact = (value: unknown) => (typeof value === 'string' ? value.replace(/(?:a1){40}/g, '•••') : value)
      const command = `curl -H "Authorization: Bearer ${token}"`
      expect(labelOf({ command }, { redact })).toBe('Read(curl -H "Authorization: Bearer •••")')
      expect(labelOf({ command: `${'x'.repeat(90)} ${token}` }, { redact })).toBe(`Read(${'x'.repeat(90)} •••)`)
      expect(labelOf({ file_path: 'a/b' }, { redact: () => ({ no: 'text' }) })).toBe('(withheld)')
    })
  })

  it('calls describe() of a tool only between steps, and survives errors in it', async () => {
    const states: unknown[] = []
    const tool = heldTool('Read', {
      safe: true,
      describe: () => {
        states.push(executor.actor.getSnapshot().value)
        return 'in its own words'
      },
    })
    const { executor, add } = testTurn([tool.tool])
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Read')
    expect(states).toEqual([])
    await flush()
    expect(states).toEqual([{ gate: 'shared', run: 'clear' }])
    expect(ofType(frames, 'call').at(-1)?.label).toBe('Read(in its own words)')
  })

  it('does not affect the turn when a listener throws', async () => {
    const { executor, add, read } = setUp()
    createRecorder({
      onFrame: () => {
        throw new Error('no')
      },
    }).watch(executor)
    add('a', 'Read')
    read.run('a').finish()
    await flush()
    expect(takeAll(executor)).toHaveLength(1)
    expect(executor.actor.getSnapshot().status).toBe('active')
  })

  it('provides the current state for a new reader', () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Read')
    const picture = recorder.picture()
    expect(picture[0]?.type).toBe('head')
    expect(new Set(picture.map(({ seq }) => seq))).toEqual(new Set([frames.length - 1]))
    expect(ofType(picture, 'call').map(({ stage }) => stage)).toEqual(['executing'])
    add('b', 'Write')
    expect(ofType(frames, 'call').at(-1)?.call).toBe('b')
  })
})

it('a recorder refuses a query, and says what to watch instead', () => {
  const run = query({ messages: 'Go.', tools: [], model: scriptedModel(['Done.']) })
  const watch = () => createRecorder().watch(run as unknown as Parameters<Recorder['watch']>[0])
  expect(watch).toThrow('watch each executor that `onExecutor` of the query reports')
})

describe('a recording', () => {
  const lines = () => {
    const { executor, add } = setUp()
    const { frames, recorder } = recorded()
    recorder.watch(executor)
    add('a', 'Read')
    return { frames, text: frames.map(frameLine).join('') }
  }
  const read = async (...chunks: (string | Uint8Array)[]): Promise<Frame[]> => {
    async function* given() {
      yield* chunks
    }
    const frames: Frame[] = []
    for await (const frame of readFrames(given())) frames.push(frame)
    return frames
  }

  it('is read back as written, however it is chunked', async () => {
    const { frames, text } = lines()
    const expected = JSON.parse(JSON.stringify(frames))
    expect(await read(text)).toEqual(expected)
    const bytes = new TextEncoder().encode(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.slice(index * 7, index * 7 + 7),
    )
    expect(await read(...pieces)).toEqual(expected)
  })

  it('that was truncated ends with a gap', async () => {
    const { frames, text } = lines()
    const cut = await read(text.slice(0, -20))
    expect(cut.at(-1)).toMatchObject({ type: 'gap', because: 'truncated' })
    expect(cut).toHaveLength(frames.length)
  })

  it.each([
    ['nothing', '', 'the file is empty'],
    ['no JSON', 'hello\nthere\n', 'line 1: not JSON'],
    ['another version', '{"seq":0,"at":0,"run":0,"type":"head","version":99,"epoch":0}\n', 'version 99'],
    ['no head', '{"seq":0,"at":0,"run":0,"type":"left"}\n', 'expected a head frame, received a left frame'],
    ['another kind of JSON', '[1,2]\n', 'not a frame'],
    [
      'a frame with a wrong field',
      '{"seq":0,"at":0,"run":0,"type":"head","version":"1","epoch":0}\n',
      'not a valid head',
    ],
    ['a line without end', 'x'.repeat(9_000_000), 'expected a line of at most'],
  ])('with %s is rejected with the line', async (_, text, problem) => {
    await expect(read(text)).rejects.toThrow(problem)
  })

  it('may nest without limit, and is truncated', async () => {
    const head = '{"seq":0,"at":0,"run":0,"type":"head","version":1,"epoch":0}\n'
    const deep = `{"seq":1,"at":0,"run":1,"type":"progress","call":"a","count":1,"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`
    const frames = await read(head + deep)
    expect(JSON.stringify(frames)).toContain('"deeper"')
  })

  it('cannot reach into prototypes', async () => {
    const head = '{"seq":0,"at":0,"run":0,"type":"head","version":1,"epoch":0}\n'
    const odd = '{"seq":1,"at":0,"run":1,"type":"progress","call":"a","count":1,"data":{"__proto__":{"polluted":1}}}\n'
    const frames = await read(head + odd)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(JSON.stringify(frames)).not.toContain('polluted')
  })

  it('skips frame types that are newer than the reader', async () => {
    const head = '{"seq":0,"at":0,"run":0,"type":"head","version":1,"epoch":0}\n'
    expect(await read(`${head}{"seq":1,"at":0,"run":0,"type":"toString"}\n`)).toHaveLength(1)
  })
})
