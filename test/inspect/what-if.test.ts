import { describe, expect, it } from 'vitest'
import {
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  createLocks,
  query,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { createRecorder, type Frame, ShownRuns, whatIf } from '../../src/inspect/index.ts'
import { linkOf } from '../../src/pipeline/body-link.ts'
import { checkRecording, flush, heldTool, heldTurn, simulate, simulateQuery } from '../../src/testing/index.ts'
import { randomFrom } from '../../src/testing/repeatable.ts'
import { heldModel } from '../support/held-model.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined

async function randomRecordings(seed: number, runs: number): Promise<Frame[][]> {
  const recordings: Frame[][] = []
  const onRecording = (text: string): void => {
    recordings.push(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Frame),
    )
  }
  await simulate({ seed, runs, maxCalls: 10, maxMoves: 60, onRecording })
  return recordings
}

/** A recorded turn on a simulated clock. The moves are times and what happens then. */
async function recordedTurn(limit: number, play: (turn: ReturnType<typeof turnOf>) => Promise<void>): Promise<Frame[]> {
  const turn = turnOf(limit)
  await play(turn)
  for (const _ of turn.executor.getCompletedResults());
  return turn.frames
}

function turnOf(maxConcurrency: number) {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
  const { add, clock, executor } = heldTurn([read.tool, write.tool, bash.tool], { maxConcurrency })
  const frames: Frame[] = []
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 }).watch(executor)
  const pass = async (ms: number): Promise<void> => {
    await flush()
    clock.increment(ms)
  }
  return { read, write, bash, add, clock, executor, frames, pass }
}

/** Four reads of 100 ms and a write of 50 ms after them, two at a time. */
const fourReadsAndAWrite = () =>
  recordedTurn(2, async ({ read, write, add, pass }) => {
    for (const id of ['a', 'b', 'c', 'd']) add(id, 'Read')
    add('e', 'Write')
    for (const pair of [
      ['a', 'b'],
      ['c', 'd'],
    ]) {
      await pass(100)
      for (const id of pair) read.run(id).finish()
    }
    await pass(50)
    write.run('e').finish()
    await flush()
  })

describe('a recorded run, simulated', () => {
  it('gives an unsafe call its own reason to wait, not that of the safe call before it', async () => {
    const [read, write] = [heldTool('Read', { safe: true, cancel: true }), heldTool('Write')]
    // the interrupt ends the Read at once, and the Write starts in the same step
    const canUseTool: CanUseTool = ({ name }) =>
      name === 'Read' ? new Promise(() => undefined) : { behavior: 'allow' }
    const { add, executor } = heldTurn([read.tool, write.tool], { maxConcurrency: 1, canUseTool })
    const frames: Frame[] = []
    createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Read'],
      ['c', 'Write'],
    ] as const) {
      add(id, name)
    }
    executor.abort('interrupt')
    await flush()
    write.run('c').finish()
    await flush()
    for (const _ of executor.getCompletedResults());
    const { recorded, simulated } = whatIf(frames)
    expect(recorded.calls[2]?.waitedFor).toEqual({ because: 'waitsForRunning', blockers: ['a', 'b'] })
    expect(simulated.calls[2]?.waitedFor).toEqual(recorded.calls[2]?.waitedFor)
  })

  it('without a change equals the recorded run, to the microsecond: random turns with faults', async () => {
    const recordings = await randomRecordings(11, isFull ? 1_000 : 80)
    for (const [at, frames] of recordings.entries()) {
      const { recorded, simulated, moved, caveats } = whatIf(frames)
      const over = new Set(frames.flatMap((frame) => (frame.type === 'call' && wasOver(frame) ? [frame.call] : [])))
      const shown = recorded.calls.map((call) => (over.has(call.id) ? { ...call, ended: 'answer' } : call))
      expect([at, simulated.calls]).toEqual([at, shown])
      expect(simulated.makespanMs).toBe(recorded.makespanMs)
      expect(moved).toEqual([])
      expect(caveats.filter((doubt) => !doubt.startsWith('The recorder attached late'))).toEqual([])
    }
    const ended = new Set(recordings.flatMap((frames) => whatIf(frames).recorded.calls.map((call) => call.ended)))
    expect([...ended].sort()).toEqual(
      expect.arrayContaining(['answer', 'result', 'sibling_error', 'streaming_fallback', 'user_interrupted']),
    )
  })

  it('K6 equals a run in which a call waited for shared keys', async () => {
    const locks = createLocks()
    const [one, other] = [heldTool('Write'), heldTool('Write')]
    const holder = heldTurn([one.tool], { context: { locks } })
    const { add, clock, executor } = heldTurn([other.tool], { context: { locks } })
    const frames: Frame[] = []
    createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 }).watch(executor)
    holder.add('a', 'Write')
    add('b', 'Write')
    await flush()
    clock.increment(70)
    one.run('a').finish()
    await flush()
    clock.increment(30)
    other.run('b').finish()
    await flush()
    for (const _ of executor.getCompletedResults());
    const { recorded, simulated, moved } = whatIf(frames)
    expect(simulated.calls).toEqual(recorded.calls)
    expect([recorded.makespanMs, simulated.makespanMs, moved]).toEqual([100, 100, []])
    expect(JSON.stringify(frames)).toContain('locking')
  })

  it('also equals a run recorded on a real clock', async () => {
    const frames: Frame[] = []
    const [read, write] = [heldTool('Read', { safe: true }), heldTool('Write')]
    const executor = new StreamingToolExecutor([read.tool, write.tool], allowAllTools, {}, { maxConcurrency: 2 })
    createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
    const names = ['Read', 'Read', 'Read', 'Write', 'Read', 'Write', 'Nowhere']
    for (const [at, name] of names.entries()) {
      executor.addTool({ type: 'tool_use', id: String(at), name, input: {} }, createAssistantMessage([]))
    }
    for (const [at, name] of names.slice(0, 6).entries()) {
      ;(name === 'Read' ? read : write).run(String(at)).finish()
      await flush()
    }
    for await (const _ of executor.getRemainingResults());
    const { recorded, moved, caveats } = whatIf(frames)
    expect(recorded.calls.map(({ yieldedAt }) => yieldedAt !== undefined)).toEqual(names.map(() => true))
    expect([moved, caveats]).toEqual([[], []])
  })

  it('keeps every rule whatever is changed, and its recording shows the same', async () => {
    const random = randomFrom(3)
    for (const [at, frames] of (await randomRecordings(12, isFull ? 400 : 40)).entries()) {
      const marks = new Map<string, boolean | undefined>()
      const safe = ({ id }: { id: string }): boolean | undefined => {
        if (!marks.has(id)) marks.set(id, [true, false, undefined][Math.floor(random() * 3)])
        return marks.get(id)
      }
      const changes = { maxConcurrency: 1 + Math.floor(random() * 4), safe, unseenMs: 70 }
      const result = whatIf(frames, changes)
      const recording = result.recording()
      expect([at, checkRecording(recording)]).toEqual([at, []])
      const again = whatIf(recording)
      const times = ({ startedAt, endedAt, yieldedAt, waitedFor }: (typeof again.recorded.calls)[number]) =>
        JSON.stringify([startedAt, endedAt, yieldedAt, waitedFor])
      expect([at, again.recorded.calls.map(times)]).toEqual([at, result.simulated.calls.map(times)])
      expect([at, again.moved]).toEqual([at, []])
    }
  })
})

describe('cases that random turns do not cover', () => {
  const recordedFrom = (
    executor: Parameters<ReturnType<typeof createRecorder>['watch']>[0],
    now: () => number,
  ): Frame[] => {
    const frames: Frame[] = []
    createRecorder({ onFrame: (frame) => frames.push(frame), now }).watch(executor)
    return frames
  }

  it('a call that a hook makes unsafe goes back to the queue, unless its class is set', async () => {
    const read = heldTool('Read', { safe: true })
    const tool = { ...read.tool, isConcurrencySafe: (input: Record<string, unknown>) => input.path !== 'all' }
    const output = { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { path: 'all' } } } as const
    const hook = async (input: { tool_input?: unknown }) =>
      (input.tool_input as { path?: string }).path === 'b' ? output : {}
    const context = { hooks: { PreToolUse: [{ hooks: [hook] }] } }
    const { add, clock, executor } = heldTurn([tool], { context })
    const frames = recordedFrom(executor, () => clock.now())
    for (const id of ['a', 'b', 'c']) add(id, 'Read', { path: id })
    await flush()
    // b waits now for both of the others
    for (const id of ['a', 'c', 'b']) {
      clock.increment(10)
      read.run(id).finish()
      await flush()
    }
    for (const _ of executor.getCompletedResults());
    const same = whatIf(frames)
    expect([same.moved, same.caveats]).toEqual([[], []])
    expect(same.recorded.calls[1]?.phases.map(({ phase }) => phase)).toEqual(['preHooks', 'calling'])
    expect(same.recorded.calls[1]?.endedAt).toBeGreaterThan(10)
    const safe = whatIf(frames, { safe: () => true })
    expect(safe.simulated.calls[1]?.phases.map(({ from }) => from)).toEqual([0, 0])
    const unsafe = whatIf(frames, { safe: ({ id }) => id !== 'b' })
    expect(unsafe.simulated.calls[1]?.waitedFor?.because).toBe('waitsForRunning')
  })

  it('R6 a body that runs elsewhere is one phase, and moves from place to place as in the recording', async () => {
    const far = heldTool('Far')
    const { add, clock, executor } = heldTurn([far.tool])
    const frames = recordedFrom(executor, () => clock.now())
    add('a', 'Far')
    for (const place of ['sent', 'remote'] as const) {
      clock.increment(10)
      linkOf(far.run('a').context)?.place(place === 'sent' ? { place } : { place, worker: 'w1' })
    }
    clock.increment(10)
    far.run('a').finish()
    await flush()
    for (const _ of executor.getCompletedResults());
    const same = whatIf(frames)
    expect([same.moved, same.caveats]).toEqual([[], []])
    for (const { calls } of [same.recorded, same.simulated]) {
      expect(calls[0]?.phases).toMatchObject([{ phase: 'calling', from: 0, to: 30 }])
    }
    const events = same.recording().flatMap((frame) => (frame.type === 'step' ? [frame.event] : []))
    expect(events).toEqual(expect.arrayContaining(['body.sent', 'body.pickedUp', 'tool.settled']))
  })

  it('a held call that is withdrawn, and a body that aborts its own controller', async () => {
    const read = heldTool('Read', { safe: true })
    let goOn = (): void => undefined
    const stops = {
      ...heldTool('Stop', { safe: true }).tool,
      call: async (_: unknown, { abortController }: { abortController: AbortController }) => {
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
        abortController.abort('enough')
        return { data: 'stopped' }
      },
    }
    const { add, clock, executor } = heldTurn([read.tool, stops], { maxConcurrency: 2 })
    const frames = recordedFrom(executor, () => clock.now())
    const block = { type: 'tool_use', id: 'held', name: 'Read', input: {} } as const
    executor.addTool(block, createAssistantMessage([]), { hold: true })
    add('a', 'Read')
    add('stop', 'Stop')
    add('late', 'Read')
    clock.increment(10)
    executor.withdraw('held', 'its reply was cut off')
    clock.increment(10)
    read.run('a').finish()
    goOn()
    await flush()
    clock.increment(10_000)
    await flush()
    for (const _ of executor.getCompletedResults());
    const same = whatIf(frames)
    expect([same.moved, same.caveats]).toEqual([[], []])
    expect(same.recorded.calls.map(({ ended }) => ended)).toEqual([
      'withdrawn',
      'result',
      'user_interrupted',
      'user_interrupted',
    ])
    // it stops the turn 20 ms after its start
    const later = whatIf(frames, { maxConcurrency: 1 })
    expect(later.simulated.calls[2]).toMatchObject({ startedAt: 20, ended: 'user_interrupted' })
    expect(later.simulated.calls[3]).toMatchObject({ startedAt: undefined, endedAt: 40, ended: 'user_interrupted' })
  })

  it('an interrupt that comes twice and does not stop calls with block behaviour', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, clock, executor } = heldTurn([read.tool])
    const frames = recordedFrom(executor, () => clock.now())
    add('a', 'Read')
    for (const _ of [1, 2]) {
      clock.increment(10)
      executor.abort('interrupt')
    }
    add('b', 'Read')
    clock.increment(10)
    for (const id of ['a', 'b']) read.run(id).finish()
    await flush()
    for (const _ of executor.getCompletedResults());
    const { recorded, moved, caveats } = whatIf(frames)
    expect([moved, caveats]).toEqual([[], []])
    expect(recorded.calls.map(({ ended, endedAt }) => [ended, endedAt])).toEqual([
      ['result', 30],
      ['result', 30],
    ])
  })

  it('a body that is aborted twice and stops slowly', async () => {
    const read = heldTool('Read', { safe: true, cancel: true })
    const { add, clock, executor } = heldTurn([read.tool], { maxConcurrency: 1 })
    const frames = recordedFrom(executor, () => clock.now())
    add('a', 'Read')
    add('b', 'Read')
    clock.increment(10)
    executor.abort('interrupt')
    clock.increment(20)
    executor.abort('escape')
    clock.increment(30)
    read.run('a').finish()
    await flush()
    for (const _ of executor.getCompletedResults());
    const { recorded, moved, caveats } = whatIf(frames)
    expect([moved, caveats]).toEqual([[], []])
    expect(recorded.calls[0]).toMatchObject({ endedAt: 60, ended: 'user_interrupted' })
    // b runs too now, until it is aborted; how it would have reacted is unknown
    const wider = whatIf(frames, { maxConcurrency: 2 }).simulated.calls
    expect(wider.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [0, 60],
      [0, 10],
    ])
  })

  it('a hook that was cut short by an abort: its full duration is unknown', async () => {
    const read = heldTool('Read', { safe: true })
    const hangs = async (_: unknown, id: string | undefined) => (id === 'b' ? new Promise<never>(() => undefined) : {})
    const context = { hooks: { PostToolUse: [{ hooks: [hangs] }] } }
    const { add, clock, executor } = heldTurn([read.tool], { maxConcurrency: 1, context })
    const frames = recordedFrom(executor, () => clock.now())
    add('a', 'Read')
    add('b', 'Read')
    for (const id of ['a', 'b']) {
      await flush()
      clock.increment(10)
      read.run(id).finish()
    }
    await flush()
    clock.increment(10)
    executor.abort('escape')
    await flush()
    for (const _ of executor.getCompletedResults());
    const same = whatIf(frames)
    expect([same.moved, same.caveats]).toEqual([[], []])
    expect(same.recorded.calls[1]).toMatchObject({ startedAt: 10, endedAt: 30, ended: 'result' })
    const wider = whatIf(frames, { maxConcurrency: 2 }).simulated.calls[1]
    expect(wider).toMatchObject({ startedAt: 0, endedAt: 30, ended: 'result' })
  })

  it('the turns of a query, each with the query around it', async () => {
    const recordings: string[] = []
    await simulateQuery({ seed: 4, runs: 15, onRecording: (recording) => recordings.push(recording) })
    let runs = 0
    for (const text of recordings.filter((each) => each !== '')) {
      const frames = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Frame)
      for (const { run } of frames.filter(({ type }) => type === 'run')) {
        runs++
        const { moved, caveats } = whatIf(frames, { run })
        expect([moved, caveats.filter((doubt) => doubt.startsWith('Even'))]).toEqual([[], []])
      }
    }
    expect(runs).toBeGreaterThan(10)
  })
})

const wasOver = ({ stage }: { stage: string }): boolean => stage === 'completed' || stage === 'yielded'

describe('a change', () => {
  it('of a class in a query says that calls would start at another moment of the stream', async () => {
    const frames: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
    const shown = new ShownRuns()
    shown.begin(recorder)
    const [read, write] = [heldTool('Read', { safe: true }), heldTool('Write')]
    const held = heldModel()
    const run = query({ messages: 'go', tools: [read.tool, write.tool], model: held.model, canUseTool: allowAllTools })
    shown.add(run)
    const reading = (async () => {
      for await (const _ of run);
    })()
    await flush()
    held.start()
    held.call('w', 'Write')
    held.call('r', 'Read')
    held.end('tool_use')
    await flush()
    write.run('w').finish()
    await flush()
    read.run('r').finish()
    await flush()
    held.start()
    held.text('Done.')
    held.end()
    await reading
    const say = "Unless their tools have startWhen, these calls would start at another moment of the model's stream: "
    const caveatsWith = (safe: (call: { name: string; isSafe: boolean }) => boolean) =>
      whatIf(frames, { run: 1, safe }).caveats
    expect(caveatsWith(({ isSafe }) => isSafe)).toEqual([])
    expect(caveatsWith(() => true)).toEqual([`${say}Write.`])
    expect(caveatsWith(() => false)).toEqual([`${say}Read.`])
  })

  it('of the limit lets calls start earlier, and says by how much and why they still wait', async () => {
    const frames = await fourReadsAndAWrite()
    const { recorded, simulated, moved, caveats } = whatIf(frames, { maxConcurrency: 4 })
    expect([recorded.maxConcurrency, recorded.makespanMs]).toEqual([2, 250])
    expect([simulated.maxConcurrency, simulated.makespanMs]).toEqual([4, 150])
    expect(moved.map(({ recorded: { id }, startsBy, endsBy }) => [id, startsBy, endsBy])).toEqual(
      [
        ['a', 0, 0],
        ['b', 0, 0],
        ['c', -100, -100],
        ['d', -100, -100],
        ['e', -100, -100],
      ].slice(2),
    )
    expect(recorded.calls[2]?.waitedFor).toEqual({ because: 'full', blockers: ['a', 'b'] })
    expect(simulated.calls[2]?.waitedFor).toBeUndefined()
    expect(simulated.calls[4]?.waitedFor).toEqual({ because: 'waitsForRunning', blockers: ['d'] })
    expect(caveats).toEqual([])
  })

  it('to one at a time makes it longer', async () => {
    const { simulated } = whatIf(await fourReadsAndAWrite(), { maxConcurrency: 1 })
    expect(simulated.makespanMs).toBe(450)
    expect(simulated.calls.map(({ startedAt }) => startedAt)).toEqual([0, 100, 200, 300, 400])
  })

  it('of the classes moves calls from one lane to the other', async () => {
    const frames = await fourReadsAndAWrite()
    const allSafe = whatIf(frames, { safe: () => true, maxConcurrency: Number.POSITIVE_INFINITY })
    expect(allSafe.simulated).toMatchObject({ makespanMs: 100, maxConcurrency: null })
    expect(allSafe.simulated.calls.map(({ isSafe }) => isSafe)).toEqual([true, true, true, true, true])
    const bAlone = whatIf(frames, { safe: ({ id }) => (id === 'b' ? false : undefined) })
    expect(bAlone.simulated.calls.map(({ startedAt }) => startedAt)).toEqual([0, 100, 200, 200, 300])
    expect(bAlone.simulated.calls[2]?.waitedFor).toEqual({ because: 'exclusiveRunning', blockers: ['b'] })
  })

  it('keeps the times of arrivals, answers, hooks and readers', async () => {
    const frames = await recordedTurn(1, async ({ read, add, pass, executor }) => {
      add('a', 'Read')
      await pass(40)
      add('b', 'Read')
      await pass(60)
      read.run('a').finish()
      await pass(30)
      // a reader that comes 30 ms after the result
      for (const _ of executor.getCompletedResults());
      await pass(70)
      read.run('b').finish()
      await flush()
    })
    const { simulated } = whatIf(frames, { maxConcurrency: 2 })
    expect(
      simulated.calls.map(({ addedAt, startedAt, endedAt, yieldedAt }) => [addedAt, startedAt, endedAt, yieldedAt]),
    ).toEqual([
      [0, 0, 100, 130],
      [40, 40, 140, 140],
    ])
  })

  it('cannot know what the recording does not contain, and says so', async () => {
    const frames = await recordedTurn(1, async ({ bash, add, pass }) => {
      add('a', 'Bash')
      add('b', 'Read')
      await pass(100)
      bash.run('a').fail(new Error('broken'))
      await flush()
    })
    const same = whatIf(frames)
    expect(same.recorded.calls[1]).toMatchObject({ startedAt: undefined, ended: 'sibling_error' })
    // b runs now, until a fails
    const wider = whatIf(frames, { maxConcurrency: 2 })
    expect(wider.simulated.calls[1]).toMatchObject({ startedAt: 0, endedAt: 100, ended: 'sibling_error' })
    expect(wider.caveats).toEqual(['These calls never ran in the recording, so their durations are unknown: Read.'])
    // unseenMs assumes an end
    const supposed = whatIf(frames, { maxConcurrency: 2, unseenMs: 30 })
    expect(supposed.simulated.calls[1]).toMatchObject({ startedAt: 0, endedAt: 30, ended: 'result' })
  })

  it('of an unfinished turn is simulated as far as it went', async () => {
    const frames = await recordedTurn(1, async ({ read, add, pass }) => {
      for (const id of ['a', 'b', 'c']) add(id, 'Read')
      await pass(10)
      read.run('a').finish()
      await pass(10)
    })
    const { recorded, simulated, caveats } = whatIf(frames, { maxConcurrency: 3 })
    expect([recorded.makespanMs, simulated.makespanMs]).toEqual([undefined, undefined])
    expect(simulated.calls.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [0, 10],
      [0, undefined],
      [0, undefined],
    ])
    expect(caveats.at(-1)).toBe('These calls do not end in the recording either: Read, Read.')
  })
})
