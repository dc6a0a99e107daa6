import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fifo } from '../../src/base/fifo.ts'

type Act =
  | { readonly push: number }
  | { readonly unshift: number }
  | { readonly shift: number }
  | 'clear'
  | { readonly keepBelow: number }

/** Large numbers too: the list gives up its room and moves its items only beyond certain sizes. */
const amount = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.integer({ min: 1, max: 3_000 }))
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ push: amount }),
  fc.record({ shift: amount }),
  fc.record({ unshift: fc.integer({ min: 1, max: 5 }) }),
  fc.constant('clear' as const),
  fc.record({ keepBelow: fc.integer({ min: 0, max: 10 }) }),
)

describe('Fifo', () => {
  it('does the same as an array, whatever its length', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
        const fifo = new Fifo<number>()
        let array: number[] = []
        let next = 0
        for (const each of acts) {
          if (each === 'clear') {
            fifo.clear()
            array = []
          } else if ('push' in each) {
            for (let count = 0; count < each.push; count++) {
              fifo.push(next)
              array.push(next++)
            }
          } else if ('unshift' in each) {
            for (let count = 0; count < each.unshift; count++) {
              fifo.unshift(next)
              array.unshift(next++)
            }
          } else if ('shift' in each) {
            const taken = Array.from({ length: each.shift }, () => fifo.shift())
            expect(taken).toEqual(Array.from({ length: each.shift }, () => array.shift()))
          } else {
            const isKept = (item: number) => item % 10 < each.keepBelow
            fifo.keep(isKept)
            array = array.filter(isKept)
          }
          expect(fifo.length).toBe(array.length)
          expect(fifo.all).toEqual(array)
        }
        expect(Array.from(array, () => fifo.shift())).toEqual(array)
        expect(fifo.shift()).toBeUndefined()
      }),
    )
  })

  it('shows a filter what still waits, and nothing that was taken', () => {
    const fifo = new Fifo<string>()
    for (const item of ['a', 'b', 'c', 'd']) fifo.push(item)
    fifo.shift()
    const shown: string[] = []
    fifo.keep((item) => shown.push(item) > 0 && item !== 'c')
    expect(shown).toEqual(['b', 'c', 'd'])
    expect([fifo.shift(), fifo.shift(), fifo.length]).toEqual(['b', 'd', 0])
  })

  it('holds items that are undefined', () => {
    const fifo = new Fifo<undefined>()
    fifo.push(undefined)
    expect(fifo.length).toBe(1)
    fifo.shift()
    expect(fifo.length).toBe(0)
  })
})
