import fc from 'fast-check'
import { describe, it } from 'vitest'
import { storyOf } from './arbitrary-story.ts'
import { playStory } from './play-story.ts'

const { SIGNALBOX_FULL } = process.env
const numRuns = SIGNALBOX_FULL ? 50_000 : 2_500

describe('random turns', () => {
  it('Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8 Y1 Y2 Y3 Y4 Y5 Y6 Y8 A1 A2 A3 A4 A5 A6 A7 A8: after every move of any turn the executor matches the model', {
    timeout: 1_800_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(storyOf(40), playStory), { numRuns, includeErrorInReport: true })
  })
})
