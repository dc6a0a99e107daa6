import { describe, expect, it } from 'vitest'
import { History } from '../../inspector-app/src/model/history.ts'
import { LogIndex, rowOf } from '../../inspector-app/src/model/log-index.ts'
import type { Call, Model, Run } from '../../inspector-app/src/model/model.ts'
import { reduce } from '../../inspector-app/src/model/reduce.ts'
import { toneOf, toneWords, whyWaiting } from '../../inspector-app/src/words.ts'
import { createRecorder, type Frame, type FrameBody } from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

let clock = 0
const setUp = (options: Parameters<typeof testTurn>[1] = {}) => {
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const write = heldTool('Write')
  const turn = testTurn([read.tool, write.tool], options)
  clock = 0
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock }).watch(turn.executor)
  return { ...turn, read, write, frames }
}
const runOf = (model: Model): Run => model.runs.get(1) as Run

/** Hand-written frames, numbered. */
const frames = (...bodies: (FrameBody & { run?: number })[]): Frame[] =>
  bodies.map((body, seq) => ({ seq, at: seq, run: 1, ...body }))

const call = (id: string, index: number, lane: 'shared' | 'exclusive' = 'shared'): FrameBody => ({
  type: 'call',
  call: id,
  actor: id,
  index,
  name: id,
  label: id,
  input: {},
  lane,
  stopsAtInterrupt: false,
  stage: 'queued',
})
const run: FrameBody = { type: 'run', title: 't', isLate: false, maxConcurrency: 10, root: 'x:0' }
const stages = (...changes: [string, 'executing' | 'completed' | 'yielded', 'shared' | 'exclusive'][]): FrameBody => ({
  type: 'schedule',
  stages: changes,
})

describe('the reduced model', () => {
  it('Y1 knows how long each result was held for order', async () => {
    const { add, read, executor, frames: seen } = setUp()
    add('a', 'Read')
    add('b', 'Read')
    clock = 10
    read.run('b').finish()
    await flush()
    clock = 25
    read.run('a').finish()
    await flush()
    takeAll(executor)
    const [a, b] = runOf(reduce(seen)).calls
    expect([(a?.yieldedAt ?? 0) - (a?.completedAt ?? 0), (b?.yieldedAt ?? 0) - (b?.completedAt ?? 0)]).toEqual([0, 15])
    expect(b?.segments.map(({ path, from, to }) => [path.at(-1), from, to])).toEqual([
      ['queued', 0, 0],
      ['calling', 0, 10],
      ['completed', 10, 25],
      ['yielded', 25, undefined],
    ])
  })

  it('Q4 keeps since when a call waits while its reason stays', () => {
    const wait = (blockers: string[]): FrameBody => ({
      type: 'schedule',
      waits: [{ because: 'waitsForRunning', blockers, calls: [[1, 1]] }],
    })
    const model = reduce(frames(run, call('a', 0), call('b', 1, 'exclusive'), wait(['a', 'x']), wait(['a'])))
    const waiting = runOf(model).calls[1]?.wait
    expect(waiting).toEqual({ because: 'waitsForRunning', blockers: ['a'], since: 3 })
    expect(waiting && whyWaiting(runOf(model), waiting)).toBe('must run alone, waits for #1 a')
    expect(
      runOf(
        reduce(
          frames({ type: 'schedule', waits: [] }).map((frame) => ({ ...frame, seq: 9 })),
          model,
        ),
      ).calls[1]?.wait,
    ).toBeUndefined()
  })

  it('resets a run that is shown again after a gap', () => {
    const model = reduce(
      frames(run, call('a', 0), { type: 'gap', because: 'slow', lost: 7, run: 0 }, run, call('b', 0)),
    )
    expect(runOf(model).calls.map(({ id }) => id)).toEqual(['b'])
    expect(model.gaps).toEqual([{ seq: 2, because: 'slow', lost: 7 }])
  })

  it('A5 shows a discarded run: handed-over results stay, all other calls are discarded', async () => {
    const { add, read, executor, frames: seen } = setUp()
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    read.run('a').finish()
    await flush()
    takeAll(executor)
    clock = 10
    read.run('c').finish()
    await flush()
    clock = 20
    executor.discard()
    const after = runOf(reduce(seen))
    const wordOf = (call: Call): string => toneWords[toneOf(call)]
    expect(after.calls.map(wordOf)).toEqual(['handed over', 'discarded', 'discarded'])
    expect(after.calls[2]?.segments.map(({ path, from, to }) => [path.at(-1), from, to]).slice(-2)).toEqual([
      ['completed', 10, 20],
      ['givenUp', 20, undefined],
    ])
    // a late recorder shows the same
    const late: Frame[] = []
    createRecorder({ onFrame: (frame) => late.push(frame) }).watch(executor)
    expect(runOf(reduce(late)).calls.map(wordOf)).toEqual(['handed over', 'discarded', 'discarded'])
  })

  it('finds every breach of the rules, and its frame', () => {
    const model = reduce(
      frames(
        run,
        call('a', 0),
        call('b', 1, 'exclusive'),
        stages(['a', 'executing', 'shared']),
        stages(['b', 'executing', 'exclusive']),
        stages(['b', 'yielded', 'exclusive']),
        { type: 'result', call: 'b', message: 'tool_result', isError: false, content: '' },
        { type: 'result', call: 'b', message: 'tool_result', isError: false, content: '' },
      ),
    )
    expect(runOf(model).breaches.map(({ rule, seq }) => [rule, seq])).toEqual([
      ['alone', 4],
      ['order', 5],
      ['once', 7],
    ])
  })

  it('finds no breach in a real run', async () => {
    const { add, read, write, executor, frames: seen } = setUp()
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Write'],
      ['c', 'Nope'],
      ['d', 'Read'],
    ] as const)
      add(id, name)
    read.run('a').finish()
    await flush()
    write.run('b').fail(new Error('no'))
    await flush()
    executor.abort('escape')
    await flush()
    takeAll(executor)
    const shown = runOf(reduce(seen))
    expect(shown.breaches).toEqual([])
    expect(shown.yielded).toBe(4)
    expect(shown.aborts.map(({ cause, reached }) => [cause.kind, reached.map((each) => each.call)])).toEqual([
      ['user_interrupted', ['d']],
    ])
  })
})

describe('seeking', () => {
  it('gives the same model as the frames up to that point, from either direction', async () => {
    const { add, read, executor, frames: seen } = setUp()
    for (let index = 0; index < 700; index++) add(`call-${index}`, 'Read')
    for (let index = 0; index < 700; index++) {
      read.run(`call-${index}`).finish()
      await flush()
    }
    takeAll(executor)
    const history = new History()
    for (const frame of seen) history.push(frame)
    expect(seen.length).toBeGreaterThan(10_000)
    for (const position of [9_000, 8_999, 9_010, 3, 12_000, 5_001, 0, seen.length]) {
      expect(history.modelAt(position)).toEqual(reduce(seen.slice(0, position)))
    }
    const { seq, at } = seen[6_000] as Frame
    expect(history.positionOf(seq)).toBe(6_001)
    expect(history.positionAt(at - 1)).toBeLessThanOrEqual(6_000)
  })
})

describe('the log', () => {
  it('has the events, finds text in them, and grows with the history', () => {
    const { add, frames: seen } = setUp()
    const history = new History()
    const index = new LogIndex(history, 1, 'event', 'CALL.START')
    add('a', 'Read')
    for (const frame of seen) history.push(frame)
    expect(index.update().rows).toHaveLength(1)
    const row = rowOf(history.model.runs.get(1), history.at(index.rows[0] as number) as Frame, history.model)
    expect(row).toMatchObject({ who: 'executor → #1', what: 'call.start', call: 'a' })
    const before = seen.length
    add('b', 'Read')
    for (const frame of seen.slice(before)) history.push(frame)
    expect(index.update().rows).toHaveLength(2)
    expect(index.countAt(before)).toBe(1)
  })

  it('finds calls by their ids, and results by text deep inside them', () => {
    const long = `${'x'.repeat(5_000)} the "end"\nof it`
    const history = new History()
    const result = { type: 'result', call: 'toolu_01', message: 'tool_result', isError: false } as const
    const seen = frames(
      run,
      call('toolu_01', 0),
      { type: 'event', from: 'x:0', to: 'toolu_01', event: 'call.start', data: {} },
      { ...result, content: long },
      { ...result, call: 'toolu_02', content: [{ type: 'text', text: { $: 'text', text: long, length: 9_000 } }] },
    )
    for (const frame of seen) history.push(frame)
    const found = (search: string) => new LogIndex(history, 1, 'all', search).update().rows
    expect(found('TOOLU_01')).toEqual([2, 3])
    expect(found('the "end"\nof')).toEqual([3, 4])
    expect(found('nowhere')).toEqual([])
  })
})
