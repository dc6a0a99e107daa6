import { describe, expect, it } from 'vitest'
import {
  aFlag,
  aFunction,
  aName,
  aNumberAbove0,
  aNumberFrom,
  anArray,
  anIntegerFrom,
  anObject,
  aString,
  checkOption,
  infinity,
  milliseconds,
  type OptionRule,
  oneOf,
  or,
  positiveMilliseconds,
  positiveSeconds,
  requireOption,
} from '../../src/base/option-rules.ts'

describe('rules for options', () => {
  it.each<[OptionRule, words: string, valid: unknown[], invalid: unknown[]]>([
    [aString, 'a string', ['', 'x'], [7, null]],
    [aName, 'a non-empty string', ['x'], ['', 7]],
    [aFlag, 'true or false', [true, false], [0, 'true']],
    [aFunction, 'a function', [() => 0], [{}]],
    [anObject, 'an object', [{}], [[], null, 'x']],
    [anArray, 'an array', [[]], [{}, 'x']],
    [aNumberAbove0, 'a number above 0', [0.5, Infinity], [0, -1, Number.NaN, '1']],
    [aNumberFrom(1), 'a number of at least 1', [1, 1.5, Infinity], [0.9, Number.NaN, '1']],
    [anIntegerFrom(1), 'an integer of at least 1', [1, 9], [0, 1.5, Infinity, '1']],
    [anIntegerFrom(0, 9), 'an integer from 0 to 9', [0, 9], [-1, 10, 1.5]],
    [milliseconds, 'milliseconds', [0, 1.5, Infinity], [-1, Number.NaN, '1']],
    [positiveMilliseconds, 'more than 0 milliseconds', [0.5], [0, '1']],
    [positiveSeconds, 'more than 0 seconds', [0.5], [0, '1']],
    [or(anIntegerFrom(1), infinity), 'an integer of at least 1, or Infinity', [1, Infinity], [0, 1.5, -Infinity]],
    [oneOf('a'), "'a'", ['a'], ['b']],
    [oneOf('a', 'b'), "'a' or 'b'", ['a', 'b'], ['c', 7]],
    [oneOf('a', 'b', 'c'), "'a', 'b' or 'c'", ['c'], ['d']],
  ])('%# says what it expects', (rule, words, valid, invalid) => {
    for (const value of [undefined, ...valid]) checkOption('name', value, rule)
    for (const value of invalid)
      expect(() => checkOption('name', value, rule)).toThrow(`name: expected ${words}, received`)
    expect(() => requireOption('name', undefined, rule)).toThrow(`name: expected ${words}, received undefined.`)
  })

  it('a number is received as a number, not as the string that looks like it', () => {
    const received = (value: unknown): string => {
      try {
        requireOption('name', value, aFlag)
        return 'valid'
      } catch (error) {
        return /received (.*)\.$/.exec((error as Error).message)?.[1] ?? ''
      }
    }
    expect([Number.NaN, -Infinity, 'NaN', 1.5, [Number.NaN]].map(received)).toEqual([
      'NaN',
      '-Infinity',
      '"NaN"',
      '1.5',
      '["NaN"]',
    ])
  })

  it('the error has the code of its option', () => {
    expect(() => checkOption('hooks', 7, anObject, 'invalid_hook')).toThrow(
      expect.objectContaining({ code: 'invalid_hook' }),
    )
    expect(() => checkOption('retry', 7, anObject)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})
