import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import { compareRuns, createRecorder, type Frame, whatIf, whatIfConversation } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn, simulate } from '../../src/testing/index.ts'
import { randomFrom } from '../../src/testing/repeatable.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined

async function randomTexts(runs: number): Promise<string[]> {
  const texts: string[] = []
  await simulate({ seed: 21, runs, maxCalls: 6, maxMoves: 40, onRecording: (text) => texts.push(text.trim()) })
  return texts
}

const framesOf = (text: string): Frame[] => text.split('\n').map((line) => JSON.parse(line) as Frame)

async function shortRun(play?: (turn: ReturnType<typeof heldTurn>) => void): Promise<Frame[]> {
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true })
  const turn = heldTurn([read.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => turn.clock.now() }).watch(turn.executor)
  turn.add('a', 'Read')
  play?.(turn)
  read.run('a').finish()
  await flush()
  for (const _ of turn.executor.getCompletedResults());
  return frames
}

/** Values that a hand-written recording may contain. */
const oddValues = [
  1e308,
  -1,
  0.5,
  9_007_199_254_740_991,
  '',
  'constructor',
  '__proto__',
  null,
  [],
  [[0, 1e15]],
  {},
  true,
]

function spoil(frames: Frame[], random: () => number): Frame[] {
  const at = Math.floor(random() * frames.length)
  const spoilt = structuredClone(frames)
  const frame = (spoilt[at] ?? {}) as unknown as Record<string, unknown>
  const keys = Object.keys(frame).filter((key) => key !== 'type')
  const key = keys[Math.floor(random() * keys.length)] as string
  const odd = oddValues[Math.floor(random() * oddValues.length)]
  const ways = [
    () => spoilt.splice(at, 1),
    () => spoilt.splice(at, 0, ...structuredClone(spoilt.slice(at, at + 3))),
    () => spoilt.splice(at, 2, ...spoilt.slice(at, at + 2).reverse()),
    () => spoilt.splice(at),
    // only values that pass the frame check: of the same type as before
    () => typeof odd === typeof frame[key] && Object.assign(frame, { [key]: odd }),
  ]
  ways[Math.floor(random() * ways.length)]?.()
  return spoilt
}

describe('a recording that cannot be relied on', () => {
  it('is rejected with a message, or simulated with caveats: frames lost, doubled, swapped, cut, changed', async () => {
    const random = randomFrom(5)
    const seen = { refused: 0, doubted: 0, fine: 0 }
    for (const text of await randomTexts(isFull ? 200 : 15)) {
      for (let times = 0; times < 12; times++) {
        let frames = framesOf(text)
        for (let faults = 0; faults <= times % 3; faults++) frames = spoil(frames, random)
        try {
          expect(compareRuns(framesOf(text), frames).calls.length).toBeGreaterThanOrEqual(0)
          const { caveats, simulated } = whatIf(frames, { maxConcurrency: 3, safe: ({ isSafe }) => !isSafe })
          expect(Number.isNaN(simulated.makespanMs)).toBe(false)
          const all = whatIfConversation(frames, {
            resources: () => ({ writes: ['file:x'] }),
            backgroundAfterMs: () => 5,
          })
          expect([all.recordedMs, all.simulatedMs]).not.toContain(Number.NaN)
          seen[caveats.length > 0 ? 'doubted' : 'fine']++
        } catch (error) {
          if (!isSignalboxError(error)) throw error
          expect(error.message).toMatch(/^This recording cannot be used: .+\.$/)
          seen.refused++
        }
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5)
  })

  it.each([
    ['of another version', (frames: Frame[]) => Object.assign(frames[0] ?? {}, { version: 99 }), 'version 99'],
    [
      'with a frame that is none',
      (frames: Frame[]) => frames.splice(5, 0, { ...(frames[5] as Frame), at: 'noon' } as never),
      'one of its frames is not a frame',
    ],
    [
      'with a frame that lacks something',
      (frames: Frame[]) => frames.push({ seq: 999, at: 1, run: 1, type: 'step', actor: 'x:0', active: {} } as never),
      'one of its frames is not a valid step frame',
    ],
    ['without a run', (frames: Frame[]) => frames.splice(1), 'it contains no run'],
    [
      'with a gap',
      (frames: Frame[]) => frames.push({ seq: 999, at: 1, run: 0, type: 'gap', because: 'slow', lost: 7 }),
      'frames are missing',
    ],
  ])('%s is rejected', async (_, change, problem) => {
    const frames = await shortRun()
    change(frames)
    expect(() => whatIf(frames)).toThrow(problem)
  })

  it('from other charts is simulated with a caveat', async () => {
    const frames = await shortRun(({ add, clock }) => {
      add('b', 'Read')
      clock.increment(10)
    })
    // the limit is one, but two ran
    Object.assign(frames[1] ?? {}, { maxConcurrency: 1 })
    expect(whatIf(frames).caveats[0]).toMatch(/^Even without changes, the simulation differs from the recording: Read/)
  })

  it('whose run was being stopped when the recorder attached is rejected', async () => {
    const read = heldTool('Read', { safe: true })
    const turn = heldTurn([read.tool])
    turn.add('a', 'Read')
    turn.executor.abort('escape')
    const frames: Frame[] = []
    createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(turn.executor)
    expect(() => whatIf(frames)).toThrow('was already being stopped when the recorder attached')
  })

  it('without that run is rejected, and so are invalid options', async () => {
    const frames = await shortRun()
    expect(() => whatIf(frames, { run: 7 })).toThrow('it contains no run 7')
    for (const maxConcurrency of [0, -1, 1.5, Number.NaN]) {
      expect(() => whatIf(frames, { maxConcurrency })).toThrow('maxConcurrency: expected an integer of at least 1')
    }
    expect(() => whatIf(frames, { unseenMs: -1 })).toThrow('unseenMs: expected')
    expect(() => whatIf(frames, { safe: true as never })).toThrow('safe: expected')
  })
})

describe('values that redact removed', () => {
  it('do not matter, because the events are read from the charts', async () => {
    const frames: Frame[] = []
    const [read, bash] = [heldTool('Read', { safe: true }), heldTool('Bash', { cancelsSiblingsOnError: true })]
    const turn = heldTurn([read.tool, bash.tool])
    const { executor, clock } = turn
    createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), redact: () => '(hidden)' }).watch(
      executor,
    )
    turn.add('a', 'Read')
    turn.add('b', 'Bash')
    turn.add('c', 'Read')
    clock.increment(10)
    read.run('a').finish()
    await flush()
    clock.increment(10)
    bash.run('b').fail(new Error('broken'))
    await flush()
    for (const _ of executor.getCompletedResults());
    expect(JSON.stringify(frames)).not.toContain('broken')
    const { moved, caveats, simulated } = whatIf(frames)
    expect([moved, caveats]).toEqual([[], []])
    expect(simulated.calls.map(({ ended }) => ended)).toEqual(['result', 'result', 'sibling_error'])
  })
})

describe('very many calls', () => {
  it('are simulated', async () => {
    const frames: Frame[] = []
    const read = heldTool('Read', { safe: true })
    const turn = heldTurn([read.tool], { maxConcurrency: 10_000 })
    createRecorder({ onFrame: (frame) => frames.push(frame), now: () => turn.clock.now() }).watch(turn.executor)
    const count = isFull ? 10_000 : 500
    for (let at = 0; at < count; at++) turn.add(String(at), 'Read')
    turn.clock.increment(100)
    for (let at = 0; at < count; at++) read.run(String(at)).finish()
    await flush()
    for (const _ of turn.executor.getCompletedResults());
    const { recorded, simulated, caveats } = whatIf(frames, { maxConcurrency: 10 })
    expect([recorded.makespanMs, simulated.makespanMs, caveats]).toEqual([100, count * 10, []])
  })
})
