import { describe, expect, it } from 'vitest'
import { readFrames } from '../../src/inspect/index.ts'
import {
  checkRecording,
  evidenceOf,
  exploreTurn,
  heldTool,
  recordStory,
  simulate,
  troublesomeTools,
  type turnInvariants,
} from '../../src/testing/index.ts'

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

  it('Y6 A4 keeps them for random stories too, and is the same each time', async () => {
    const logs: string[] = []
    await simulate({ seed: 5, runs: 25, onRun: (log) => logs.push(log) })
    for (const log of logs) {
      const calls = [...log.matchAll(/^ {2}\w+ = (\w+)(, held)?$/gm)].map(([, tool = '', hold]) => ({
        tool,
        hold: hold !== undefined,
      }))
      const moves = [...log.matchAll(/^ {2}\d+\. (.*)$/gm)].map(([, move = '']) => move)
      const phases = log.includes(': all,') ? 'all' : 'bodies'
      const happenings = { flood: true, strange: true, long: true, hostAbort: true, reader: 2 }
      const tell = () => recordStory({ tools: troublesomeTools(), calls, phases, happenings }, moves)
      const frames = await tell()
      expect(await tell()).toEqual(frames)
      expect([log, checkRecording(frames)]).toEqual([log, []])
    }
  })

  it('Y1 finds a result that is missing, and results that changed places', async () => {
    const frames = await recordStory(setup, story)
    const results = frames.filter((frame) => frame.type === 'result' && frame.message === 'tool_result')
    const without = frames.filter((frame) => frame !== results[0])
    expect(checkRecording(without).map(({ invariant }) => invariant)).toContain('one result per call')
    const swapped = frames.map((frame) =>
      frame === results[0] ? results[1] : frame === results[1] ? results[0] : frame,
    ) as typeof frames
    expect(checkRecording(swapped).map(({ invariant }) => invariant)).toContain('emission order')
  })

  it('comes with every breach, for the inspector to read', async () => {
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
