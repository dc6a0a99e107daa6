import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import { allowAllTools, query } from '../../src/index.ts'
import { createRecorder, type Frame, type MarkedCall, ShownRuns, whatIfConversation } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn, simulatedClock, simulateQuery } from '../../src/testing/index.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined

/** Turns on one simulated clock, in one recording. */
function stage() {
  const clock = simulatedClock()
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 })
  const turn = (title: string, parentToolUseID?: string) => {
    const [read, write, agent, retried] = [
      heldTool('Read', { safe: true }),
      heldTool('Write'),
      heldTool('Agent', { safe: true }),
      heldTool('Retried', { retry: { attempts: 2, backoffMs: 50 } }),
    ]
    const { executor, add } = heldTurn([read.tool, write.tool, agent.tool, retried.tool], { clock, maxConcurrency: 2 })
    recorder.watch(executor, { title, ...(parentToolUseID !== undefined && { parentToolUseID }) })
    const finish = async (tool: 'Read' | 'Write' | 'Agent' | 'Retried', id: string): Promise<void> => {
      const { [tool]: held } = { Read: read, Write: write, Agent: agent, Retried: retried }
      held.run(id).finish()
      await flush()
      for (const _ of executor.getCompletedResults());
    }
    const fail = (id: string, error: Error): void => retried.run(id).fail(error)
    return { add, finish, fail }
  }
  const pass = async (ms: number): Promise<void> => {
    await flush()
    clock.increment(ms)
    await flush()
  }
  return { turn, pass, frames, clock, recorder }
}

/** 0: two writes, 100 ms each. 250: a read of 50 ms. */
async function twoTurns(): Promise<Frame[]> {
  const { turn, pass, frames } = stage()
  const first = turn('turn 1')
  first.add('a', 'Write', { path: 'a.ts' })
  first.add('b', 'Write', { path: 'b.ts' })
  await pass(100)
  await first.finish('Write', 'a')
  await pass(100)
  await first.finish('Write', 'b')
  await pass(50)
  const second = turn('turn 2')
  second.add('c', 'Read')
  await pass(50)
  await second.finish('Read', 'c')
  return frames
}

const path = ({ input }: MarkedCall): string => String((input as { path?: string }).path)
const writes = (key: (call: MarkedCall) => string) => ({
  resources: (call: MarkedCall) => (call.name === 'Write' ? { writes: [`file:${key(call)}`] } : undefined),
})

const timesOf = ({ turns }: ReturnType<typeof whatIfConversation>) =>
  turns.map(({ title, recorded, simulated }) => [
    title,
    [recorded.startsAt, recorded.endsAt],
    [simulated.startsAt, simulated.endsAt],
  ])

describe('a conversation, simulated', () => {
  it('K3 moves a later turn with the turn before it', async () => {
    const frames = await twoTurns()
    const found = whatIfConversation(frames, writes(path))
    expect(timesOf(found)).toEqual([
      ['turn 1', [0, 200], [0, 100]],
      ['turn 2', [250, 300], [150, 200]],
    ])
    expect([found.recordedMs, found.simulatedMs, found.caveats]).toEqual([300, 200, []])
    const [, b] = found.turns[0]?.calls.simulated.calls ?? []
    expect([b?.startedAt, b?.endedAt]).toEqual([0, 100])
  })

  it('K2 keeps calls that write the same resource one after the other', async () => {
    const found = whatIfConversation(
      await twoTurns(),
      writes(() => 'same.ts'),
    )
    expect([found.recordedMs, found.simulatedMs]).toEqual([300, 300])
    expect(found.turns[0]?.calls.simulated.calls[1]?.waitedFor).toEqual({
      because: 'resource',
      blockers: ['a'],
      key: 'file:same.ts',
    })
  })

  it('takes another class and another limit for every turn', async () => {
    const { turn, pass, frames } = stage()
    for (const title of ['turn 1', 'turn 2']) {
      const { add, finish } = turn(title)
      for (const id of ['a', 'b', 'c']) add(`${title} ${id}`, 'Read')
      await pass(100)
      await finish('Read', `${title} a`)
      await finish('Read', `${title} b`)
      await pass(100)
      await finish('Read', `${title} c`)
      await pass(10)
    }
    // two at once: 200 ms for each turn, and 10 ms between
    expect(whatIfConversation(frames).recordedMs).toBe(410)
    expect(whatIfConversation(frames, { maxConcurrency: 3 }).simulatedMs).toBe(210)
    expect(whatIfConversation(frames, { maxConcurrency: 1 }).simulatedMs).toBe(610)
    expect(whatIfConversation(frames, { safe: () => false }).simulatedMs).toBe(610)
  })

  it('makes the call of an agent as much shorter as its agent, and moves what follows', async () => {
    const { turn, pass, frames } = stage()
    const outer = turn('turn 1')
    outer.add('agent', 'Agent')
    await pass(10)
    const inner = turn('agent, turn 1', 'agent')
    inner.add('a', 'Write', { path: 'a.ts' })
    inner.add('b', 'Write', { path: 'b.ts' })
    await pass(100)
    await inner.finish('Write', 'a')
    await pass(100)
    await inner.finish('Write', 'b')
    await pass(20)
    const last = turn('agent, turn 2', 'agent')
    last.add('c', 'Read')
    await pass(30)
    await last.finish('Read', 'c')
    await pass(40)
    await outer.finish('Agent', 'agent')
    await pass(5)
    const next = turn('turn 2')
    next.add('d', 'Read')
    await pass(15)
    await next.finish('Read', 'd')
    const found = whatIfConversation(frames, writes(path))
    expect(found.turns.map(({ depth }) => depth)).toEqual([0, 1, 1, 0])
    expect(timesOf(found)).toEqual([
      ['turn 1', [0, 300], [0, 200]],
      ['agent, turn 1', [10, 210], [10, 110]],
      ['agent, turn 2', [230, 260], [130, 160]],
      ['turn 2', [305, 320], [205, 220]],
    ])
    expect([found.recordedMs, found.simulatedMs]).toEqual([320, 220])
  })

  it('puts the turns of an agent below its own call if the ids of the agent repeat those around it', async () => {
    const { turn, pass, frames } = stage()
    const outer = turn('turn 1')
    outer.add('a', 'Agent')
    for (const title of ['agent, turn 1', 'agent, turn 2']) {
      const inner = turn(title, 'a')
      inner.add('a', 'Agent')
      const innermost = turn(`${title}, inside`, 'a')
      innermost.add('a', 'Write', { path: 'a.ts' })
      innermost.add('b', 'Write', { path: 'b.ts' })
      await pass(100)
      await innermost.finish('Write', 'a')
      await pass(100)
      await innermost.finish('Write', 'b')
      await inner.finish('Agent', 'a')
    }
    await outer.finish('Agent', 'a')
    const found = whatIfConversation(frames, writes(path))
    expect(found.turns.map(({ depth }) => depth)).toEqual([0, 1, 2, 1, 2])
    expect(timesOf(found)).toEqual([
      ['turn 1', [0, 400], [0, 200]],
      ['agent, turn 1', [0, 200], [0, 100]],
      ['agent, turn 1, inside', [0, 200], [0, 100]],
      ['agent, turn 2', [200, 400], [100, 200]],
      ['agent, turn 2, inside', [200, 400], [100, 200]],
    ])
  })

  it('X1 X4 sends long calls to the background after the threshold, and waits for them at the end', async () => {
    const backgroundAfterMs = ({ name }: MarkedCall) => (name === 'Write' ? 30 : undefined)
    const found = whatIfConversation(await twoTurns(), { backgroundAfterMs })
    expect(timesOf(found)).toEqual([
      ['turn 1', [0, 200], [0, 60]],
      ['turn 2', [250, 300], [110, 160]],
    ])
    const [a, b] = found.turns[0]?.calls.simulated.calls ?? []
    expect([a?.ended, a?.endedAt, a?.background]).toEqual(['background', 30, { from: 30, to: 100 }])
    expect([b?.startedAt, b?.endedAt, b?.background]).toEqual([30, 60, { from: 60, to: 130 }])
    expect(found.simulatedMs).toBe(160)
    expect(found.caveats).toEqual([
      'turn 1: the model continues without the results of Write, Write, so its later replies could differ.',
    ])
  })

  it('X1 leaves a call with an agent for the background at its time, however long the agent takes', async () => {
    const { turn, pass, frames, clock, recorder } = stage()
    const shown = new ShownRuns()
    shown.begin(recorder)
    const agent = heldTool('Agent', { safe: true, background: { afterMs: 60, awaited: true } })
    const model = scriptedModel([[{ call: 'Agent', id: 'agent', input: {} }], 'It works.', 'Done.'])
    const run = query({ messages: 'go', tools: [agent.tool], model, canUseTool: allowAllTools, executor: { clock } })
    shown.add(run)
    const reading = (async () => {
      for await (const _ of run);
    })()
    await flush()
    const inner = turn('agent, turn 1', 'agent')
    inner.add('a', 'Write', { path: 'a.ts' })
    inner.add('b', 'Write', { path: 'b.ts' })
    await pass(100)
    await inner.finish('Write', 'a')
    await pass(100)
    await inner.finish('Write', 'b')
    agent.run('agent').finish()
    await reading
    const [outer] = whatIfConversation(frames, writes(path)).turns
    expect([outer?.recorded.endsAt, outer?.simulated.endsAt]).toEqual([60, 60])
    expect(outer?.calls.simulated.calls[0]?.ended).toBe('background')
  })

  it('K3 gives each attempt of a call the agent inside it', async () => {
    const { turn, pass, frames } = stage()
    const outer = turn('turn 1')
    outer.add('agent', 'Retried')
    for (const attempt of [1, 2]) {
      const inner = turn(`attempt ${attempt}`, 'agent')
      for (const id of ['a', 'b']) inner.add(id, 'Write', { path: `${id}.ts` })
      for (const id of ['a', 'b']) {
        await pass(100)
        await inner.finish('Write', id)
      }
      if (attempt === 1) {
        outer.fail('agent', new Error('no answer'))
        await pass(50)
      }
    }
    await outer.finish('Retried', 'agent')
    expect(timesOf(whatIfConversation(frames, writes(path)))).toEqual([
      ['turn 1', [0, 450], [0, 250]],
      ['attempt 1', [0, 200], [0, 100]],
      ['attempt 2', [250, 450], [150, 250]],
    ])
  })

  it('does not count a message that is sent after the results as a part of the turn', async () => {
    const frames = await twoTurns()
    const last = frames.findLastIndex(({ run }) => run === 1)
    const at = (frames[last] as Frame).at + 40
    const said = { seq: 0, at, run: 1, type: 'said', by: 'user', text: 'Hurry.' } as const
    const all = [...frames.slice(0, last + 1), said, ...frames.slice(last + 1)]
    expect(timesOf(whatIfConversation(all, writes(path)))).toEqual([
      ['turn 1', [0, 200], [0, 100]],
      ['turn 2', [250, 300], [150, 200]],
    ])
  })

  it('X1 waits for a background call that outlives the last turn', async () => {
    const { turn, pass, frames } = stage()
    const only = turn('turn 1')
    only.add('a', 'Write')
    await pass(500)
    await only.finish('Write', 'a')
    const found = whatIfConversation(frames, { backgroundAfterMs: () => 100 })
    expect(timesOf(found)).toEqual([['turn 1', [0, 500], [0, 100]]])
    expect(found.simulatedMs).toBe(500)
  })

  it('X1 leaves a body that ends at the threshold where it is', async () => {
    const found = whatIfConversation(await twoTurns(), { backgroundAfterMs: () => 100 })
    expect(found.simulatedMs).toBe(300)
    expect(found.turns.flatMap(({ calls }) => calls.simulated.calls.map(({ background }) => background))).toEqual([
      ...[undefined, undefined, undefined],
    ])
    expect(whatIfConversation(await twoTurns(), { backgroundAfterMs: () => Infinity }).simulatedMs).toBe(300)
  })

  it('without a change equals the recording: random queries with faults', async () => {
    const texts: string[] = []
    await simulateQuery({ seed: 9, runs: isFull ? 400 : 12, onRecording: (text) => texts.push(text) })
    let turns = 0
    for (const text of texts.filter((each) => each !== '')) {
      const frames = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Frame)
      const found = whatIfConversation(frames)
      expect(found.simulatedMs).toBe(found.recordedMs)
      for (const { recorded, simulated } of found.turns) expect(simulated).toEqual(recorded)
      turns += found.turns.length
    }
    expect(turns).toBeGreaterThan(10)
  })
})

describe('a conversation that cannot be simulated', () => {
  const errorOf = (act: () => unknown): string => {
    try {
      act()
    } catch (error) {
      if (isSignalboxError(error)) return `${error.code}: ${error.message}`
      throw error
    }
    return 'no error'
  }

  it('says so', async () => {
    expect(errorOf(() => whatIfConversation([]))).toBe(
      'invalid_recording: This recording cannot be used: it contains no run.',
    )
    const frames = await twoTurns()
    const [head, ...rest] = frames
    const gap = { ...(rest[0] as Frame), type: 'gap', because: 'slow', lost: 3, run: 0 } as unknown as Frame
    expect(errorOf(() => whatIfConversation([head as Frame, ...rest, gap]))).toContain('frames are missing')
    for (const resources of [() => ({ writes: 'a' }), () => ({ writes: ['a'] }), () => 7]) {
      expect(errorOf(() => whatIfConversation(frames, { resources: resources as never }))).toMatch(
        /^invalid_option: resources: .*expected/,
      )
    }
    expect(errorOf(() => whatIfConversation(frames, { backgroundAfterMs: () => -1 }))).toMatch(
      /^invalid_option: backgroundAfterMs: expected/,
    )
    expect(errorOf(() => whatIfConversation(frames, { backgroundAfterMs: 30 as never }))).toMatch(
      /^invalid_option: backgroundAfterMs: expected a function/,
    )
  })

  it('has agents in a circle only if somebody wrote it, and still ends', async () => {
    const frames = (await twoTurns()).map((frame) =>
      frame.type === 'run' ? { ...frame, parentToolUseID: frame.title === 'turn 1' ? 'c' : 'a' } : frame,
    )
    expect(timesOf(whatIfConversation(frames)).map(([title]) => title)).toEqual(['turn 1', 'turn 2'])
  })

  it('names a turn that does not end, and keeps the times of the others', async () => {
    const { turn, pass, frames } = stage()
    const first = turn('turn 1')
    first.add('a', 'Write')
    await pass(100)
    await first.finish('Write', 'a')
    const second = turn('turn 2')
    second.add('b', 'Write')
    await pass(100)
    const found = whatIfConversation(frames)
    expect([found.recordedMs, found.simulatedMs]).toEqual([100, 100])
    expect(found.turns.map(({ reach }) => reach)).toEqual(['end', 'end'])
    expect(found.caveats).toContain('turn 2 does not end in the recording.')
  })
})
