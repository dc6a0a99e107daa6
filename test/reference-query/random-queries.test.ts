import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storyOf } from './arbitrary-story.ts'
import { expectedFeatures, featuresOf } from './features.ts'
import { playStory } from './play-story.ts'

const { SIGNALBOX_FULL, SIGNALBOX_COUNT } = process.env
const numRuns = SIGNALBOX_FULL ? 20_000 : 2_000

describe('random queries', () => {
  it('L2 L3 L4 L5 L6 L7 L8: any query matches the prediction of the reference from the log of events', {
    timeout: 1_800_000,
  }, async () => {
    const counts = new Map<string, number>()
    const property = fc.asyncProperty(storyOf(30), async (story) => {
      for (const each of featuresOf(await playStory(story))) counts.set(each, (counts.get(each) ?? 0) + 1)
    })
    await fc.assert(property, { numRuns, includeErrorInReport: true })
    const counted = [...counts].sort(([, one], [, other]) => other - one)
    if (SIGNALBOX_COUNT) console.log(counted.map(([feature, count]) => `${count} ${feature}`).join('\n'))
    // stories without progress prove nothing
    for (const feature of expectedFeatures) expect(counts.get(feature) ?? 0, feature).toBeGreaterThan(numRuns / 500)
  })
})
