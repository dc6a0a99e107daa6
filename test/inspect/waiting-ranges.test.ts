import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WaitingRanges } from '../../src/inspect/frames/waiting-ranges.ts'

it('holds the indices that were added and not removed, as the fewest ranges', () => {
  const move = fc.record({ isAdded: fc.boolean(), place: fc.nat(12) })
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const [ranges, places] = [new WaitingRanges(), new Set<number>()]
      for (const { isAdded, place } of moves) {
        if (isAdded) ranges.add(place)
        else ranges.delete(place)
        if (isAdded) places.add(place)
        else places.delete(place)
        const inOrder = [...places].sort((a, b) => a - b)
        expect(
          ranges.ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n)),
        ).toEqual(inOrder)
        expect(ranges.ranges).toHaveLength(inOrder.filter((each, at) => inOrder[at - 1] !== each - 1).length)
      }
    }),
    { numRuns: 2_000 },
  )
})

it('is empty once it is cleared', () => {
  const ranges = new WaitingRanges()
  ranges.add(3)
  ranges.clear()
  expect(ranges.ranges).toEqual([])
})
