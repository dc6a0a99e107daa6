import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatch, diffValue } from '../../src/inspect/frames/diff-value.ts'
import { type Encoded, encodeValue } from '../../src/inspect/frames/encode-value.ts'

const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error('no')
    },
    ownKeys: () => {
      throw new Error('no')
    },
    getPrototypeOf: () => {
      throw new Error('no')
    },
  },
)

describe('encodeValue', () => {
  it('leaves plain data as it is', () => {
    const data = { a: 1, b: ['x', null, true, { c: 'd' }] }
    expect(encodeValue(data)).toEqual(data)
  })

  it.each<[string, unknown, Encoded]>([
    ['undefined', undefined, { $: 'undefined' }],
    ['NaN', Number.NaN, { $: 'number', text: 'NaN' }],
    ['a bigint', 12n, { $: 'bigint', text: '12' }],
    ['a symbol', Symbol('s'), { $: 'symbol', text: 'Symbol(s)' }],
    ['a function', function named() {}, { $: 'function', name: 'named' }],
    ['a map', new Map([['k', 1]]), { $: 'map', entries: [['k', 1]] }],
    ['a set', new Set([1]), { $: 'set', items: [1] }],
    ['bytes', new Uint8Array(3), { $: 'bytes', name: 'Uint8Array', length: 3 }],
    ['an aborted signal', AbortSignal.abort('why'), { $: 'signal', aborted: true, reason: 'why' }],
    ['a controller', new AbortController(), { $: 'signal', aborted: false }],
    ['a promise', Promise.resolve(), { $: 'promise' }],
    ['a proxy that throws', hostile, { $: 'unreadable' }],
    ['a date that is none', new Date(Number.NaN), { $: 'date', text: 'NaN' }],
  ])('encodes %s', (_, value, expected) => {
    expect(encodeValue(value)).toEqual(expected)
  })

  it('shows an error with its cause and its own fields', () => {
    const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E1' })
    expect(encodeValue(error)).toEqual({
      $: 'error',
      name: 'TypeError',
      message: 'outer',
      cause: { $: 'error', name: 'Error', message: 'inner' },
      fields: { code: 'E1' },
    })
  })

  it('continues after a getter that throws', () => {
    const value = Object.defineProperty({ a: 1 }, 'b', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    expect(encodeValue(value)).toEqual({ a: 1, b: { $: 'unreadable' } })
  })

  it('stops at cycles and at its limits of depth, values and text length', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(encodeValue(cycle)).toEqual({ self: { $: 'cycle' } })
    expect(encodeValue({ a: { b: {} } }, { depth: 2 })).toEqual({ a: { b: { $: 'deeper' } } })
    expect(encodeValue([1, 2, 3], { nodes: 3 })).toEqual({ $: 'list', items: [1, 2], length: 3 })
    expect(encodeValue({ a: 1, b: 2 }, { nodes: 2 })).toEqual({ $: 'object', fields: { a: 1 }, left: 1 })
    expect(encodeValue('abcdef', { text: 3 })).toEqual({ $: 'text', text: 'abc', length: 6 })
  })

  it('wraps a plain object that looks like an encoded value', () => {
    expect(encodeValue({ $: 'schedule' })).toEqual({ $: 'object', fields: {}, odd: [['$', 'schedule']] })
    const polluted = JSON.parse('{"__proto__": {"a": 1}, "b": 2}')
    expect(encodeValue(polluted)).toEqual({ $: 'object', fields: { b: 2 }, odd: [['__proto__', { a: 1 }]] })
  })

  it('never throws, and always returns valid JSON', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true }), (value) => {
        const encoded = encodeValue(value)
        expect(JSON.parse(JSON.stringify(encoded))).toEqual(encoded)
      }),
    )
  })
})

describe('a patch', () => {
  it('turns the earlier value into the later one', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [before, after] = [encodeValue(a), encodeValue(b)]
        const patch = diffValue(before, after)
        const patched = patch === undefined ? before : applyPatch(before, patch)
        expect(JSON.parse(JSON.stringify(patched))).toEqual(JSON.parse(JSON.stringify(after)))
      }),
    )
  })

  it('contains only the changes', () => {
    expect(diffValue({ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 2, d: 4 } })).toEqual({ set: [[['b', 'd'], 4]] })
    expect(diffValue({ a: 1 }, { a: 1 })).toBeUndefined()
    expect(diffValue({ a: 1, b: 2 }, { a: 1 })).toEqual({ drop: [['b']] })
  })
})
