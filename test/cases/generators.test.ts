import { describe, expect, it } from 'vitest'
import { flush, isResult, stateOf, testTurn } from '../support/turn.ts'
import {
  collectWarnings,
  expectNoStrays,
  never,
  onlyOutcome,
  outcomeOf,
  outcomes,
  progressOf,
  raise,
  roughTool,
  textOf,
} from './support.ts'

expectNoStrays()

const progress = (data: unknown) => ({ type: 'progress', data })
const result = (data: unknown) => ({ type: 'result', data })

describe('generators that break the protocol', () => {
  it('T7 two results: the first counts, the second is dropped and counted', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield result('first')
        yield result('second')
      }),
    ])
    const warnings = collectWarnings(executor)
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'first', isError: false })
    expect(warnings.of('unexpected_chunk').map(({ count }) => count)).toEqual([1])
  })

  it('T7 Y2 progress after the result is dropped and counted, and never follows the result', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield progress(1)
        yield result('done')
        yield progress(2)
        yield progress(3)
      }),
    ])
    const warnings = collectWarnings(executor)
    add('a', 'Gen')
    await flush()
    const updates = [...executor.getCompletedResults()]
    expect(updates.map(({ message }) => message.type)).toEqual(['progress', 'user'])
    expect(progressOf(updates).map(({ data }) => data)).toEqual([1])
    expect(warnings.of('unexpected_chunk').map(({ count }) => count)).toEqual([1, 2])
  })

  it.each([
    ['where no result was yielded', [], 'returned'],
    ['unless a result was yielded', [result('yielded')], 'yielded'],
  ])('T7 a return value is the result %s (vercel/ai PR#9960)', async (_, chunks, content) => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield* chunks
        return { data: 'returned' }
      }),
    ])
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ content, isError: false })
  })

  it('Y6 a generator that ends without a result still has one result', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield progress(1)
      }),
    ])
    add('a', 'Gen')
    const outcome = await onlyOutcome(executor)
    expect(outcome.id).toBe('a')
    expect(textOf(outcome)).not.toBe('')
  })

  it('P8 a generator that throws after progress: the progress, then an error result', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield progress(1)
        raise(new TypeError('broke'))
      }),
    ])
    add('a', 'Gen')
    await flush()
    const updates = [...executor.getCompletedResults()]
    expect(updates.map(({ message }) => message.type)).toEqual(['progress', 'user'])
    expect(updates.filter(isResult).map(outcomeOf)).toMatchObject([{ isError: true, id: 'a' }])
  })

  it('T7 a generator that throws after its result keeps the result', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield result('done')
        raise(new TypeError('cleaning up failed'))
      }),
    ])
    const warnings = collectWarnings(executor)
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'done', isError: false })
    expect(warnings.all).toHaveLength(1)
  })

  it.each([
    ['before its result', []],
    ['after its result', [result('done')]],
  ])('A7 a generator that never ends, %s: abandoned after the grace period, with one result', async (_, chunks) => {
    const { executor, add, clock } = testTurn([
      roughTool('Gen', async function* () {
        yield* chunks
        await never()
      }),
    ])
    const warnings = collectWarnings(executor)
    add('a', 'Gen')
    await flush()
    executor.abort('escape')
    clock.increment(5_000)
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a' })
    expect(warnings.of('abandoned')).toHaveLength(1)
    expect(await outcomes(executor)).toEqual([])
  })

  it('A7 a generator that yields for ever is closed when it is abandoned, and its finally block runs', async () => {
    const steps: (() => void)[] = []
    let isClosed = false
    const { executor, add, clock } = testTurn([
      roughTool('Gen', async function* () {
        try {
          for (;;) {
            await new Promise<void>((resolve) => steps.push(resolve))
            yield progress('tick')
          }
        } finally {
          isClosed = true
        }
      }),
    ])
    add('a', 'Gen')
    await flush()
    executor.abort('escape')
    clock.increment(5_000)
    await onlyOutcome(executor)
    steps.shift()?.()
    await flush()
    expect(isClosed).toBe(true)
    expect([...executor.getCompletedResults()]).toEqual([])
  })

  it('A7 an error in the finally block of an abandoned generator has no effect', async () => {
    const steps: (() => void)[] = []
    const { executor, add, clock } = testTurn([
      roughTool('Gen', async function* () {
        try {
          await new Promise<void>((resolve) => steps.push(resolve))
          yield progress('tick')
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: a clean-up that fails is the point
          throw new Error('cannot clean up')
        }
      }),
    ])
    add('a', 'Gen')
    await flush()
    executor.abort('escape')
    clock.increment(5_000)
    await onlyOutcome(executor)
    steps.shift()?.()
    await flush()
    expect(await outcomes(executor)).toEqual([])
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'progress'],
    ['an unknown type', { type: 'telemetry' }],
    ['an empty object', {}],
  ])('T7 a chunk that is %s is ignored and counted', async (_, chunk) => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield chunk
        yield result('done')
      }),
    ])
    const warnings = collectWarnings(executor)
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'done' })
    expect(warnings.of('unexpected_chunk')).toHaveLength(1)
  })

  it('P8 a chunk whose getters throw is an error of the tool', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', async function* () {
        yield {
          type: 'result',
          get data() {
            return raise(new TypeError('no data'))
          },
        }
      }),
    ])
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
  })

  it('T7 a synchronous generator, which is not supported, is not reported as a success without running', async () => {
    let hasRun = false
    const { executor, add } = testTurn([
      roughTool('Gen', function* () {
        hasRun = true
        yield result('done')
      }),
    ])
    add('a', 'Gen')
    const outcome = await onlyOutcome(executor)
    expect(outcome.isError).toBe(!hasRun)
  })

  it('P8 an iterator whose next throws at once is an error of the tool', async () => {
    const { executor, add } = testTurn([
      roughTool('Gen', () => ({
        next: () => raise(new TypeError('no next')),
        [Symbol.asyncIterator]() {
          return this
        },
      })),
    ])
    add('a', 'Gen')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
  })

  it('T7 an iterator without return can be abandoned too', async () => {
    const { executor, add, clock } = testTurn([
      roughTool('Gen', () => ({
        next: never,
        [Symbol.asyncIterator]() {
          return this
        },
      })),
    ])
    add('a', 'Gen')
    executor.abort('escape')
    clock.increment(5_000)
    await onlyOutcome(executor)
    expect(stateOf(executor, 'a')).toBe('yielded')
  })
})
