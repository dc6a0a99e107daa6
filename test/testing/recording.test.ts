import { describe, expect, it } from 'vitest'
import { createRecorder, type Frame, readFrames } from '../../src/inspect/index.ts'
import {
  checkRecording,
  evidenceOf,
  exploreTurn,
  flush,
  heldTool,
  playTurn,
  recordStory,
  simulate,
  type turnInvariants,
} from '../../src/testing/index.ts'
import { movesOf } from '../../src/testing/moves.ts'

const framesOf = (recording: string): Frame[] =>
  recording
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame)

const tools = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]
const setup = { tools, calls: [{ tool: 'Read' }, { tool: 'Edit' }, { tool: 'Nowhere' }], phases: 'all' as const }
const story = [
  'a arrives',
  'a: input is accepted',
  'a: hook before passes',
  'a: host allows',
  'b arrives',
  'c arrives',
  'a reports',
  'a finishes',
  'a: hook after passes',
  'b: input is accepted',
  'b: hook before passes',
  'b: host denies',
  'results are taken',
]

describe('a story as a recording', () => {
  it('is the same for the same story', async () => {
    const frames = await recordStory(setup, story)
    expect(frames.length).toBeGreaterThan(50)
    expect(await recordStory(setup, story)).toEqual(frames)
  })

  it('Y6 shows what a live watch shows, and keeps the invariants', async () => {
    const frames = await recordStory(setup, story)
    const [turn] = evidenceOf(frames).values()
    expect(turn).toMatchObject({ order: ['a', 'b', 'c'], gate: 'open', run: 'clear', isOver: true })
    expect(
      turn?.calls.map(({ id, phase, starts, deniedAt }) => [id, phase, starts.length, deniedAt !== undefined]),
    ).toEqual([
      ['a', 'yielded', 1, false],
      ['b', 'yielded', 0, true],
      ['c', 'yielded', 0, false],
    ])
    expect(checkRecording(frames)).toEqual([])
  })

  it('of charts with a cycle of parents is still checked', async () => {
    const frames = structuredClone(await recordStory(setup, story))
    for (const frame of frames) {
      if (frame.type !== 'chart') continue
      for (const node of frame.chart.nodes) Object.assign(node, { parent: (node.id + 1) % frame.chart.nodes.length })
    }
    expect(() => checkRecording(frames)).not.toThrow()
  })

  it('Y6 A4 Q4 keeps them for random stories too, between all steps', async () => {
    const recordings: string[] = []
    await simulate({ seed: 5, runs: 150, onRecording: (recording) => recordings.push(recording) })
    for (const recording of recordings) expect(checkRecording(framesOf(recording))).toEqual([])
    expect(recordings).toHaveLength(150)
  })

  it('Q4 A4 keeps them if the recorder attached late, whatever happened before', async () => {
    for (const from of story.keys()) {
      const frames: Frame[] = []
      const { world } = await playTurn(setup, story.slice(0, from))
      const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
      const { leave } = recorder.watch(world.executor)
      if (from === 7) world.executor.abort('escape')
      for (const move of story.slice(from)) {
        movesOf(world).get(move)?.()
        await flush()
      }
      leave()
      expect([from, checkRecording(frames)]).toEqual([from, []])
    }
  })

  it('Q4 names the first frame of a breach, however the run continues', async () => {
    const frames = await recordStory(setup, story)
    const executes = frames.findIndex(
      (frame) => frame.type === 'schedule' && frame.stages?.some(([id, stage]) => id === 'b' && stage === 'executing'),
    )
    const waits = [{ because: 'full' as const, blockers: [], calls: [[1, 1] as const] }]
    const at = frames.findIndex((frame) => frame.type === 'schedule' && (frame.waits?.length ?? 0) > 0)
    expect(at).toBeLessThan(executes)
    const wrong = frames.map((frame, n) => (n === at ? ({ ...frame, waits } as Frame) : frame))
    const [breach, ...others] = checkRecording(wrong)
    expect(others).toEqual([])
    expect(breach).toMatchObject({ invariant: 'explanations are true', run: 1 })
    expect(breach?.problem).toBe('b waits because of waitsForRunning a, but the executor says full ')
    const next = frames.findIndex((frame, n) => n > at && frame.type === 'event' && frame.from === null)
    expect(breach?.seq).toBe(frames[next - 1]?.seq)
  })

  it('Y1 finds a result that is missing, and results in the wrong order', async () => {
    const frames = await recordStory(setup, story)
    const results = frames.filter((frame) => frame.type === 'result' && frame.message === 'tool_result')
    const without = frames.filter((frame) => frame !== results[0])
    expect(checkRecording(without).map(({ invariant }) => invariant)).toContain('one result per call')
    const swapped = frames.map((frame) =>
      frame === results[0] ? results[1] : frame === results[1] ? results[0] : frame,
    ) as typeof frames
    expect(checkRecording(swapped).map(({ invariant }) => invariant)).toContain('emission order')
  })

  it('contains every breach, for the inspector', async () => {
    const wish = {
      name: 'no b',
      check: ({ calls }: Parameters<(typeof turnInvariants)[number]['check']>[0]) => calls[1]?.id,
    }
    const { breach } = await exploreTurn({ ...setup, invariants: [wish] })
    const recording = (await breach?.recording()) ?? ''
    const frames = []
    for await (const frame of readFrames(
      (async function* () {
        yield recording
      })(),
    ))
      frames.push(frame)
    expect(frames[0]).toMatchObject({ type: 'head' })
    expect(frames.filter(({ type }) => type === 'call')).toHaveLength(2)
  })
})
