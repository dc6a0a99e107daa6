import { describe, expect, it, vi } from 'vitest'
import { History } from '../../../inspector-app/src/model/history.ts'
import { maxTold, Narrator } from '../../../inspector-app/src/story/narrator.ts'
import { Story, storyOf } from '../../../inspector-app/src/story/story.ts'
import { createRecorder, type Frame } from '../../../src/inspect/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../../support/turn.ts'

/** A turn whose call `a` runs from the first to the last frame, while others come and go. */
async function recordTurn(others: number): Promise<Frame[]> {
  const frames: Frame[] = []
  let time = 0
  const read = heldTool('Read', { safe: true })
  const { executor, add } = testTurn([read.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => time }).watch(executor)
  add('a', 'Read')
  for (let other = 0; other < others; other++) {
    time += 10
    add(`b${other}`, 'Read')
    await flush()
    time += 10
    read.run(`b${other}`).finish()
    await flush()
  }
  time += 10
  read.run('a').finish()
  await flush()
  takeAll(executor)
  return frames
}

const textsOf = ({ told }: { told: readonly { text: string }[] }): string[] => told.map(({ text }) => text)

describe('a story that falls behind the window of a live page', () => {
  it('says how many frames it no longer has, repeats nothing, and tells the rest', async () => {
    const frames = await recordTurn(12)
    const whole = new Narrator()
    whole.take(frames)
    const history = new History({ frames: Math.round(frames.length / 2), characters: 1_000_000 })
    const story = new Story(history)
    for (const frame of frames.slice(0, 60)) history.push(frame)
    story.advance(Number.POSITIVE_INFINITY)
    const before = textsOf(story)
    for (const frame of frames.slice(60)) history.push(frame)
    expect(history.start).toBeGreaterThan(60)
    story.advance(Number.POSITIVE_INFINITY)
    const after = textsOf(story).slice(before.length)
    expect(after[0]).toBe(`${history.start - 60} frames are missing here and no longer kept.`)
    expect(story.told[before.length]).toMatchObject({ rule: undefined, at: history.modelAt(history.start).at })
    // what it tells then is what the whole story tells of these frames, and nothing of the time before
    const all = whole.told.filter(({ seq }) => seq > (frames[history.start - 1] as Frame).seq).map(({ text }) => text)
    expect(all.length).toBeGreaterThan(5)
    expect(after.slice(1)).toEqual(all.slice(-(after.length - 1)))
    expect(after.length - 1).toBeGreaterThanOrEqual(all.length - 1)
    expect(textsOf(story).filter((text) => text.startsWith('#1 Read starts'))).toHaveLength(1)
    expect(story.isBehind).toBe(false)
  })

  it('says the same of frames that the server did not send', async () => {
    const frames = await recordTurn(2)
    const late = frames.slice(0, 30)
    const seq = frames[50]?.seq as number
    const narrator = new Narrator()
    const gap: Frame = { seq, at: 40, run: 0, type: 'gap', because: 'slow', lost: 1 }
    narrator.take(late)
    const before = narrator.told.length
    // the state of the run again, with the number of the gap: not news
    narrator.take([gap, ...late.map((frame) => ({ ...frame, seq, at: 40 }))])
    expect(textsOf(narrator).slice(before)).toEqual(['One frame is missing here: this page was too slow.'])
  })

  it('says how many sentences it no longer has', async () => {
    const frames = await recordTurn(2)
    const narrator = new Narrator()
    const ofRun = (run: number) => frames.filter((each) => each.run !== 0).map((each) => ({ ...each, run }))
    const one = new Narrator()
    one.take(ofRun(1))
    let runs = 0
    while (narrator.forgotten === 0) narrator.take(ofRun(++runs))
    expect(narrator.told.length).toBeLessThanOrEqual(maxTold * 1.2)
    expect(narrator.told.length + narrator.forgotten).toBe(runs * one.told.length)
  })
})

describe('the story of a history', () => {
  it('is told once, in small steps, for every view', async () => {
    const history = new History()
    for (const frame of await recordTurn(20)) history.push(frame)
    const story = storyOf(history)
    expect(storyOf(history)).toBe(story)
    expect(storyOf(new History())).not.toBe(story)
    let now = 0
    vi.stubGlobal('performance', { now: () => now++ })
    try {
      let steps = 0
      for (; story.isBehind; steps++) story.advance(1)
      expect(steps).toBeGreaterThan(3)
    } finally {
      vi.unstubAllGlobals()
    }
    const whole = new Narrator()
    whole.take(history.from(0))
    expect(story.told).toEqual(whole.told)
    expect(story.position).toBe(history.length)
  })
})
