import { describe, expect, it } from 'vitest'
import { bundleSize, bundles } from '../../bench/bundle.mjs'

/** KB of 1,024 bytes, minified and compressed, with xstate and zod left outside. */
const most: Record<string, number> = {
  'everything that `signalbox` exports': 88,
  'the executor and what it takes to use it': 50,
  'the same with `query`': 79,
}

describe('the bundle of a host', () => {
  it('has a limit for each part', () => {
    expect(Object.keys(bundles)).toEqual(Object.keys(most))
  })

  it.each(Object.entries(bundles))('stays small: %s', async (title, names) => {
    const { gzip } = await bundleSize(names, { isInside: false })
    expect(gzip / 1_024).toBeLessThan(most[title] as number)
    expect(gzip / 1_024).toBeGreaterThan(10)
  })
})
