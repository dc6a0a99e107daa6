import { describe, expect, it } from 'vitest'
import { duration } from '../../inspector-app/src/words.ts'

describe('a duration', () => {
  it('is rounded to a whole unit of the larger kind', () => {
    const of = [0.4, 1.6, 999.4, 999.6, 9_994, 9_996, 59_940, 59_960, 119_400, 119_600, 3_600_000]
    expect(of.map(duration)).toEqual([
      ...['0 ms', '2 ms', '999 ms', '1.00 s', '9.99 s', '10.0 s'],
      ...['59.9 s', '1 min 0 s', '1 min 59 s', '2 min 0 s', '60 min 0 s'],
    ])
  })
})
