import { describe, expect, it, vi } from 'vitest'
import { History } from '../../inspector-app/src/model/history.ts'
import { LogIndex } from '../../inspector-app/src/model/log-index.ts'
import { reduce } from '../../inspector-app/src/model/reduce.ts'
import { createRecorder, type Frame, type FrameBody } from '../../src/inspect/index.ts'
import { checkRecording } from '../../src/testing/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

/** Turns of three calls each, one after the other, as a query makes them. */
async function recordTurns(turns: number): Promise<Frame[]> {
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
  for (let turn = 0; turn < turns; turn++) {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const { leave } = recorder.watch(executor)
    for (const id of ['a', 'b', 'c']) add(`${id}${turn}`, 'Read')
    for (const id of ['a', 'b', 'c']) read.run(`${id}${turn}`).finish()
    await flush()
    takeAll(executor)
    leave()
  }
  return frames
}

const window = { frames: 500, characters: 1_000_000 }

describe('a history with a window', () => {
  it('goes on for ever: the newest state is that of all frames, and only the window is kept', async () => {
    const frames = await recordTurns(60)
    const history = new History(window)
    for (const frame of frames) history.push(frame)
    expect(history.isFull).toBe(false)
    expect(history.length).toBe(frames.length)
    expect(history.start).toBe(frames.length - 500)
    expect([...history.from(0)]).toEqual(frames.slice(-500))
    const newest = history.model.runs.get(60)
    expect(newest).toEqual(reduce(frames).runs.get(60))
    // runs that ended before the window are gone; the one that ends in it is there
    expect(history.model.runs.size).toBeLessThan(10)
    expect(history.model.runs.has(1)).toBe(false)
  })

  it('shows every kept moment as it was, and the oldest one for a moment that is gone', async () => {
    const frames = await recordTurns(30)
    const history = new History(window)
    for (const frame of frames) history.push(frame)
    for (const position of [history.start + 1, history.start + 250, history.length - 1, history.start]) {
      const shown = history.modelAt(position)
      const was = reduce(frames.slice(0, position))
      expect(shown.seq).toBe(was.seq)
      expect(shown.runs.get(30)).toEqual(was.runs.get(30))
    }
    expect(history.modelAt(3)).toEqual(history.modelAt(history.start))
    expect(history.positionOf(frames.at(-20)?.seq as number)).toBe(frames.length - 19)
  })

  it('is bounded by the length of texts too', () => {
    const history = new History({ frames: 1_000, characters: 50_000 })
    const text = 'x'.repeat(1_000)
    for (let seq = 0; seq < 500; seq++) history.push({ seq, at: seq, run: 1, type: 'said', by: 'model', text })
    expect(history.length - history.start).toBeLessThan(50)
  })

  it.each<[string, (text: string) => FrameBody]>([
    [
      'blockers of a wait',
      (id) => ({ type: 'schedule', waits: [{ because: 'full', blockers: [id], calls: [[1, 1]] }] }),
    ],
    [
      'blockers of a refusal',
      (id) => ({
        ...{ type: 'guards', actor: 'x', event: '', candidates: [] },
        refusal: { call: 'a', because: 'full', blockers: [id] },
      }),
    ],
    ['the error of an attempt', (text) => ({ type: 'attempt', call: 'a', attempt: 1, error: text, backoffMs: null })],
    ['a warning', (message) => ({ type: 'warning', call: null, code: 'x', message })],
  ])('counts the texts of every frame, such as %s', (_, body) => {
    const history = new History({ frames: 1_000, characters: 50_000 })
    for (let seq = 0; seq < 500; seq++) history.push({ seq, at: seq, run: 1, ...body('x'.repeat(1_000)) })
    expect(history.length - history.start).toBeLessThan(50)
  })

  it('bounds one endless run: calls that left the window keep neither input, result nor actor', async () => {
    const frames: Frame[] = []
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
    for (let index = 0; index < 200; index++) {
      add(`call-${index}`, 'Read')
      read.run(`call-${index}`).finish({ data: 'a long text' })
      await flush()
      takeAll(executor)
    }
    const history = new History(window)
    for (const frame of frames) history.push(frame)
    const [run] = history.model.runs.values()
    expect(run?.calls).toHaveLength(200)
    expect(run?.actors.size).toBeLessThan(60)
    expect(run?.calls[0]).toMatchObject({ results: [], input: { $: 'forgotten' }, segments: [] })
    expect(run?.calls.at(-1)?.results).toHaveLength(1)
  })

  it('can be saved: the frames before the window become a picture that the invariants accept', async () => {
    const frames = await recordTurns(12)
    const history = new History(window)
    for (const frame of frames) history.push(frame)
    const saved = [...history.opening(), ...history.from(0)]
    expect(saved[0]?.type).toBe('head')
    expect(saved[1]).toMatchObject({ type: 'gap', because: 'trimmed', lost: history.start })
    expect(
      reduce(saved)
        .runs.get(12)
        ?.calls.map(({ stage }) => stage),
    ).toEqual(['yielded', 'yielded', 'yielded'])
    expect(await checkRecording(saved)).toEqual([])
  })

  it('is searched by the log without the rows that are gone', async () => {
    const frames = await recordTurns(30)
    const history = new History(window)
    const index = new LogIndex(history, 30, 'all', '')
    for (const frame of frames) {
      history.push(frame)
      index.update()
    }
    expect(index.rows.every((row) => row >= history.start)).toBe(true)
    expect(index.rows).toEqual(new LogIndex(history, 30, 'all', '').update().rows)
  })
})

/** The same turn again and again, each in a run of its own. */
async function repeatTurn(frames: number): Promise<Frame[]> {
  const [head, ...turn] = await recordTurns(1)
  const repeated: Frame[] = [{ ...(head as Frame), at: 0 }]
  for (let run = 1; repeated.length < frames; run++)
    for (const frame of turn) repeated.push({ ...frame, run, seq: repeated.length, at: repeated.length })
  return repeated
}

describe('a history', () => {
  it('shows any moment after a few thousand frames, on the first look and without a copy of what is over', async () => {
    const frames = await repeatTurn(30_000)
    const history = new History()
    for (const frame of frames) history.push(frame)
    const read = vi.spyOn(history, 'at')
    for (const position of [15_500, 29_999, 4_999, 26_001, 10_000]) {
      read.mockClear()
      const shown = history.modelAt(position)
      // the rest of a gap between two checkpoints
      expect(read.mock.calls.length).toBeLessThan(6_000)
      expect(shown).toEqual(reduce(frames.slice(0, position)))
    }
    const [early, late] = [12_000, 22_000].map((position) => history.modelAt(position).runs.get(3))
    expect(early).toBe(late)
  })

  it('keeps an earlier moment as it was when it goes on from there', async () => {
    const frames = await repeatTurn(12_000)
    const history = new History()
    for (const frame of frames) history.push(frame)
    const was = reduce(frames.slice(0, 6_001))
    expect(history.modelAt(6_001)).toEqual(was)
    for (const position of [6_002, 6_100, 8_000, 11_000]) history.modelAt(position)
    expect(history.modelAt(6_001)).toEqual(was)
  })

  it('keeps equal charts once, however many turns bring them', async () => {
    const frames = (await recordTurns(12)).map((frame) => JSON.parse(JSON.stringify(frame)) as Frame)
    const history = new History()
    for (const frame of frames) history.push(frame)
    const charts = [...history.model.runs.values()].flatMap((run) => [...run.charts.values()])
    expect(charts).toHaveLength(24)
    expect(new Set(charts).size).toBe(2)
    expect([...history.from(0)]).toEqual(frames)
  })

  it('with a clock that is set back keeps its moments in order, and counts the frames', async () => {
    const frames = await recordTurns(2)
    const half = frames.length >> 1
    const history = new History()
    for (const [at, frame] of frames.entries()) history.push(at < half ? frame : { ...frame, at: frame.at - 1e6 })
    expect(history.setBack).toBe(frames.length - half)
    expect(history.misplaced).toBe(0)
    const times = [...history.from(0)].map(({ at }) => at)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(history.positionAt(times[half] as number)).toBe(frames.length)
  })

  it('counts frames that are out of order', async () => {
    const [head, ...rest] = await recordTurns(1)
    const history = new History()
    for (const frame of [head as Frame, ...rest.reverse()]) history.push(frame)
    expect(history.misplaced).toBe(rest.length - 1)
  })

  it('shows names that cannot pretend to be others, and keeps the original in its frames', () => {
    const history = new History()
    const label = 'Bash(\u202egpj.x\u202c\u200b\u0007 👩‍👧)'
    const run = { type: 'run', title: 'a\u2066b', isLate: false, maxConcurrency: null, root: 'x' } as const
    const call = { type: 'call', call: 'c', actor: 'a', index: 0, name: 'Ba\u00adsh', label, input: {} } as const
    history.push({ seq: 0, at: 0, run: 1, ...run })
    history.push({ seq: 1, at: 0, run: 1, ...call, lane: 'shared', stopsAtInterrupt: true, stage: 'queued' })
    history.push({ seq: 2, at: 0, run: 1, type: 'said', by: 'model', text: 'one\ntwo\u202e' })
    const shown = history.model.runs.get(1)
    expect(shown?.title).toBe('a⟨U+2066⟩b')
    expect(shown?.calls[0]).toMatchObject({
      name: 'Ba⟨U+00AD⟩sh',
      label: 'Bash(⟨U+202E⟩gpj.x⟨U+202C⟩⟨U+200B⟩⟨U+0007⟩ 👩‍👧)',
    })
    expect(shown?.said[0]?.text).toBe('one\ntwo⟨U+202E⟩')
    expect(history.at(1)).toMatchObject({ label })
  })
})

describe('a recording with missing frames', () => {
  it('counts what is missing by the numbers of the frames; gaps that the recording names do not count', async () => {
    const frames = await recordTurns(2)
    const whole = new History()
    for (const frame of frames) whole.push(frame)
    expect(whole.missing).toBe(0)
    const holed = new History()
    for (const frame of frames.filter((_, at) => at % 5 !== 3 || at > 22)) holed.push(frame)
    expect(holed.missing).toBe(4)
    const named = new History()
    const gap = { seq: 10, at: 0, run: 0, type: 'gap', because: 'slow', lost: 10 } as const
    for (const frame of [...frames.slice(0, 10), gap, ...frames.slice(20)]) named.push(frame)
    expect(named.missing).toBe(0)
  })
})
