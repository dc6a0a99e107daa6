import { describe, expect, it } from 'vitest'
import { compareRuns, createRecorder, type Frame, whatIf } from '../../src/inspect/index.ts'
import { outOfOrder } from '../../src/inspect/runs/compare-runs.ts'
import { flush, heldTool, heldTurn, playTurn, recordStory, simulate } from '../../src/testing/index.ts'

type Turn = ReturnType<typeof turnOf>

function turnOf(maxConcurrency = 10) {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  const turn = heldTurn([read.tool, write.tool], { maxConcurrency })
  const frames: Frame[] = []
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => turn.clock.now() }).watch(turn.executor)
  return { ...turn, read, write, frames }
}

async function recorded(play: (turn: Turn) => Promise<void> | void, limit?: number): Promise<Frame[]> {
  const turn = turnOf(limit)
  await play(turn)
  await flush()
  for (const _ of turn.executor.getCompletedResults());
  return turn.frames
}

const oneRead =
  (id: string, input: Record<string, unknown>, how: 'finish' | 'fail' = 'finish') =>
  ({ add, read, clock }: Turn) => {
    add(id, 'Read', input)
    clock.increment(20)
    if (how === 'finish') read.run(id).finish()
    else read.run(id).fail(new Error('gone'))
  }

describe('two runs', () => {
  it('that are equal have no difference: random turns with themselves', async () => {
    const recordings: string[] = []
    await simulate({ seed: 31, runs: 30, onRecording: (text) => recordings.push(text.trim()) })
    for (const text of recordings) {
      const frames = text.split('\n').map((line) => JSON.parse(line) as Frame)
      const { calls, differences, a, b } = compareRuns(frames, frames)
      expect([differences, a]).toEqual([0, b])
      expect(calls.every((call) => call.by === 'id' && call.a?.id === call.b?.id)).toBe(true)
    }
  })

  it('are aligned by id, else by name and input, else by name in order; the remaining calls stay unpaired', async () => {
    const one = await recorded(({ add }) => {
      add('x', 'Read', { path: 'same id' })
      add('a1', 'Read', { path: 'one' })
      add('a2', 'Read', { path: 'two' })
      add('a3', 'Write', { path: 'only here' })
    })
    const other = await recorded(({ add }) => {
      add('b2', 'Read', { path: 'two' })
      add('x', 'Read', { path: 'another input' })
      add('b1', 'Read', { path: 'changed' })
      add('b4', 'Nowhere', { path: 'only there' })
    })
    const { calls } = compareRuns(one, other)
    expect(calls.map(({ a, b, by, difference }) => [a?.id, b?.id, by, difference?.what])).toEqual([
      ['x', 'x', 'id', 'input'],
      ['a1', 'b1', 'name', 'input'],
      ['a2', 'b2', 'input', 'order'],
      ['a3', undefined, 'nothing', 'call'],
      [undefined, 'b4', 'nothing', 'call'],
    ])
  })

  it('differ in the outcome', async () => {
    const fine = await recorded(oneRead('a', {}))
    const gone = await recorded(oneRead('a', {}, 'fail'))
    expect(compareRuns(fine, gone).calls[0]?.difference).toEqual({ what: 'outcome', a: 'a result', b: 'an error' })
    const open = await recorded(({ add }) => void add('a', 'Read'))
    expect(compareRuns(fine, open).calls[0]?.difference).toEqual({
      what: 'phase',
      a: 'tool.settled',
      b: 'calling, not finished',
    })
    const stopped = await recorded(({ add, executor }) => {
      add('a', 'Read')
      executor.abort('escape')
    })
    expect(compareRuns(fine, stopped).calls[0]?.difference).toMatchObject({
      what: 'phase',
      b: 'calling, until it was stopped',
    })
  })

  it('differ in the permission, at the first different decision', async () => {
    const tools = [heldTool('Read', { safe: true }).tool]
    const setup = { tools, calls: [{ tool: 'Read' }], phases: 'all' as const }
    const asked = ['a arrives', 'a: input is accepted', 'a: hook before passes']
    expect((await playTurn(setup, asked)).breaches).toEqual([])
    const allowed = await recordStory(setup, [...asked, 'a: host allows', 'a finishes', 'a: hook after passes'])
    const denied = await recordStory(setup, [...asked, 'a: host denies'])
    expect(compareRuns(allowed, denied).calls[0]?.difference).toEqual({
      what: 'permission',
      a: 'permission.allowed',
      b: 'permission.denied',
    })
  })

  it('show which calls start in another order, and a changed class', async () => {
    const frames = await recorded(async ({ add, read, write, clock }) => {
      add('a', 'Read')
      add('b', 'Write')
      add('c', 'Read')
      for (const [id, tool] of [
        ['a', read],
        ['b', write],
        ['c', read],
      ] as const) {
        clock.increment(10)
        tool.run(id).finish()
        await flush()
      }
    })
    const simulated = whatIf(frames, { safe: ({ id }) => id === 'b' || undefined }).recording()
    const { calls, a, b } = compareRuns(frames, simulated)
    expect([a.makespanMs, b.makespanMs]).toEqual([30, 10])
    expect(calls.map(({ difference }) => difference)).toEqual([
      undefined,
      { what: 'mark', a: 'unsafe', b: 'safe' },
      undefined,
    ])
  })

  it('are rejected if one of them is not a usable recording', async () => {
    const fine = await recorded(oneRead('a', {}))
    const [head] = fine
    expect(() => compareRuns(fine, [head as Frame])).toThrow('it contains no run')
    expect(() => compareRuns([{ ...(head as Frame & { type: 'head' }), version: 7 }], fine)).toThrow('version 7')
    expect(() => compareRuns(fine, fine, { runs: [1, 9] })).toThrow('it contains no run 9')
  })
})

describe('calls that moved', () => {
  it.each([
    [[0, 1, 2, 3], []],
    [[3, 0, 1, 2], [3]],
    [[1, 0], [1]],
    [[0, 3, 1, 2, 4], [3]],
    [[], []],
  ])('in %j is %j', (places, moved) => {
    expect([...outOfOrder(places)]).toEqual(moved)
  })
})
