import { describe, expect, it } from 'vitest'
import { type ExecutorOptions, StreamingToolExecutor } from '../../src/index.ts'

const start = (options: unknown) => new StreamingToolExecutor([], undefined, {}, options as ExecutorOptions)

describe('options of an executor', () => {
  const least = { maxConcurrency: 1, abortGraceMs: 0, maxBufferedProgress: 1, maxInputChars: 1, maxUnreadChars: 0 }

  it.each(Object.entries(least))('%s is an integer, and the error names it', (name, smallest) => {
    for (const wrong of [smallest - 1, 1.5, '7', Number.NaN]) expect(() => start({ [name]: wrong })).toThrow(name)
    start({ [name]: smallest })
    start({ [name]: 2 ** 31 - 1 })
  })

  it('abortGraceMs is no longer than a timer can be; the other numbers may be infinite', () => {
    expect(() => start({ abortGraceMs: 2 ** 31 })).toThrow('abortGraceMs')
    const { abortGraceMs: _, ...others } = least
    for (const name of Object.keys(others)) start({ [name]: Infinity })
  })

  it.each([
    ['resultStore', {}],
    ['resultStore', null],
    ['clock', { setTimeout: () => 0 }],
    ['clock', { clearTimeout: () => undefined }],
    ['uuid', 'id'],
    ['engine', 'other'],
    ['trackBodies', 'yes'],
    ['maxConcurency', 1],
  ])('%s is checked, and the error names it', (name, value) => {
    expect(() => start({ [name]: value })).toThrow(name)
  })

  it('options that are no object are rejected', () => {
    for (const options of [null, 5]) expect(() => start(options)).toThrow('options')
  })
})
