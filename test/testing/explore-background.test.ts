import { describe, expect, it } from 'vitest'
import { type ExploreQueryOptions, exploreQuery, heldTool, simulateQuery } from '../../src/testing/index.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const tools = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]
const only = {
  failure: false,
  modelTrouble: false,
  modelError: false,
  interrupt: false,
  steer: false,
  abort: false,
  readerLeaves: false,
  time: false,
  detach: true,
}

describe('exploring calls in the background', () => {
  it.each<[string, ExploreQueryOptions, number]>([
    [
      'two calls that end in any order, or fail',
      { tools, replies: [[{ call: 'Edit' }, { call: 'Edit' }]], happenings: { ...only, failure: true } },
      40,
    ],
    [
      'an abort, an interrupt and a reader that leaves everywhere',
      {
        tools,
        replies: [[{ call: 'Edit' }]],
        happenings: { ...only, abort: true, interrupt: true, readerLeaves: true, time: true },
      },
      40,
    ],
    [
      'a user who says something else, or adds something, everywhere',
      {
        tools,
        replies: [[{ call: 'Edit' }]],
        happenings: { ...only, steer: true, send: true },
      },
      40,
    ],
  ])('X1 X3 X4 X6 %s: nothing is wrong', { timeout: 60_000 }, async (_, options, atLeast) => {
    const explored = await exploreQuery({ maxMs: 50_000, ...options })
    expect(explored.breach?.text).toBeUndefined()
    expect(explored).toMatchObject({ isComplete: true, endedBecause: 'complete' })
    expect(explored.states).toBeGreaterThan(atLeast)
  })

  it('X3 X6 a model that fails once: the outcome of a dropped reply is delivered to nobody', {
    timeout: 600_000,
  }, async () => {
    const explored = await exploreQuery({
      tools,
      replies: [[{ call: 'Read' }]],
      happenings: { ...only, modelTrouble: true, modelError: true, time: true },
      ...(isFull ? { maxMs: 500_000 } : { maxMs: 50_000, maxStates: 150 }),
    })
    expect(explored.breach?.text).toBeUndefined()
    expect(explored.states).toBeGreaterThanOrEqual(150)
  })

  it('X2 X3 X4 X6 random conversations with timeouts, retries and failing siblings', { timeout: 300_000 }, async () => {
    const { breach } = await simulateQuery({
      seed: 12,
      runs: isFull ? 5_000 : 60,
      happenings: { detach: true },
    })
    expect(breach?.text).toBeUndefined()
  })
})
