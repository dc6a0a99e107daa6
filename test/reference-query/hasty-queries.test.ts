import fc from 'fast-check'
import { describe, it } from 'vitest'
import { hastyStoryOf, playInHaste } from './play-in-haste.ts'

const { SIGNALBOX_FULL } = process.env
const numRuns = SIGNALBOX_FULL ? 20_000 : 2_000

describe('random queries with overlapping events', () => {
  it('L2 L5 L6 L8: with events that overlap or come from inside a body, all calls are answered', {
    timeout: 1_800_000,
  }, async () => {
    const property = fc.asyncProperty(hastyStoryOf(30), async (story) => {
      await playInHaste(story)
    })
    await fc.assert(property, { numRuns, includeErrorInReport: true })
  })
})
