import { describe, expect, it } from 'vitest'
import { type ExploreCrashesOptions, exploreCrashes, heldTool } from '../../src/testing/index.ts'

const write = heldTool('Write').tool
const read = heldTool('Read', { safe: true, isReadOnly: () => true }).tool
const quick = heldTool('Quick', { startWhen: 'closed' }).tool
const again = heldTool('Again', { recover: () => 'again' }).tool

const moreAborts: [string, ExploreCrashesOptions][] = [
  ['a call that changes nothing', { tools: [read], replies: [[{ call: 'Read' }]] }],
  ['a call that starts while the reply streams', { tools: [quick], replies: [[{ call: 'Quick' }, 'and so on']] }],
  ['calls side by side', { tools: [read, write], replies: [[{ call: 'Read' }, { call: 'Write' }]] }],
  ['two turns', { tools: [write], replies: [[{ call: 'Write' }], [{ call: 'Write' }]] }],
]

const moreDetaches: [string, ExploreCrashesOptions][] = [
  ['two crashes', { tools: [write], replies: [[{ call: 'Write' }]], maxCrashes: 2 }],
  ['a call that may run again', { tools: [again], replies: [[{ call: 'Again' }]], mayRunAgain: true }],
  ['a call that starts while the reply streams', { tools: [quick], replies: [[{ call: 'Quick' }, 'and so on']] }],
  ['calls side by side', { tools: [read, write], replies: [[{ call: 'Read' }, { call: 'Write' }]] }],
  ['two calls with effects', { tools: [write], replies: [[{ call: 'Write' }, { call: 'Write' }]] }],
  ['two turns', { tools: [write], replies: [[{ call: 'Write' }], [{ call: 'Write' }]] }],
]

describe('a crash at every event', () => {
  it.each<[string, ExploreCrashesOptions]>([
    ['a call with effects', { tools: [write], replies: [[{ call: 'Write' }]], maxCrashes: 2, failure: true }],
    ['a call that changes nothing', { tools: [read], replies: [[{ call: 'Read' }]], maxCrashes: 2 }],
    ['a call that may run again', { tools: [again], replies: [[{ call: 'Again' }]], maxCrashes: 2, mayRunAgain: true }],
    [
      'a call that waits for an answer',
      { tools: [write], replies: [[{ call: 'Write' }]], isAsked: true, maxCrashes: 2 },
    ],
    ['calls side by side', { tools: [read, write], replies: [[{ call: 'Read' }, { call: 'Write' }]] }],
    ['a call that starts while the reply streams', { tools: [quick], replies: [[{ call: 'Quick' }, 'and so on']] }],
    ['two turns', { tools: [write], replies: [[{ call: 'Write' }], [{ call: 'Write' }]] }],
    [
      'two calls that wait for answers',
      { tools: [read, write], replies: [[{ call: 'Read' }, { call: 'Write' }]], isAsked: true },
    ],
  ])('D5 D6 D11 D13 %s: nothing runs again, is lost, doubled or untrue', async (_, setup) => {
    const { breach, isComplete, states } = await exploreCrashes({ ...setup, maxMs: 200_000 })
    expect(breach).toBeUndefined()
    expect(isComplete).toBe(true)
    expect(states).toBeGreaterThan(15)
  })

  it.each<[string, ExploreCrashesOptions]>([
    ['a call with effects', { tools: [write], replies: [[{ call: 'Write' }]], failure: true }],
    ['a call that waits for an answer', { tools: [write], replies: [[{ call: 'Write' }]], isAsked: true }],
    ...(process.env.SIGNALBOX_FULL === undefined ? [] : moreAborts),
  ])('D5 D11 D15a A1 an abort before or after a crash, %s: every result is true, and the log folds to the transcript', async (_, setup) => {
    const { breach, isComplete, states, report } = await exploreCrashes({ ...setup, aborts: true, maxMs: 200_000 })
    expect(breach, report).toBeUndefined()
    expect(isComplete).toBe(true)
    expect(states).toBeGreaterThan(30)
  })

  it.each<[string, ExploreCrashesOptions]>([
    ['a call with effects', { tools: [write], replies: [[{ call: 'Write' }]] }],
    [
      'a call that fails, and an abort',
      { tools: [write], replies: [[{ call: 'Write' }]], failure: true, aborts: true },
    ],
    ...(process.env.SIGNALBOX_FULL === undefined ? [] : moreDetaches),
  ])(
    'X3 X4 X9 D5 background calls and crashes, %s: each outcome is told once and is true',
    { timeout: 1_800_000 },
    async (_, setup) => {
      const budget = { maxStates: 200_000, maxMs: 1_500_000 }
      const { breach, isComplete, states, report } = await exploreCrashes({ ...setup, ...budget, detaches: true })
      expect(breach, report).toBeUndefined()
      expect(isComplete).toBe(true)
      expect(states).toBeGreaterThan(30)
    },
  )
})
