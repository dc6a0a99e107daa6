import { describe, expect, it } from 'vitest'
import { isSignalboxError, type Retry } from '../../src/index.ts'
import {
  collectWarnings,
  done,
  expectNoStrays,
  outcomes,
  progressOf,
  raise,
  roughTool,
  textOf,
} from '../cases/support.ts'
import { chartValue, flush, stateOf, takeAll, testTurn } from '../support/turn.ts'
import { hookTurn, rough, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** A turn with a tool that has retries. */
const retryTurn = (retry: unknown, tool: object = {}) => hookTurn({}, { tool: { retry: retry as Retry, ...tool } })

describe('a call that is retried', () => {
  it('T8 P7 runs again after the backoff, and not before', async () => {
    const { executor, add, tool, clock } = retryTurn({ attempts: 3, backoffMs: 1_000 })
    add('a', 'Tool')
    tool.run('a').fail(new Error('one'))
    await flush()
    clock.increment(999)
    await flush()
    expect(tool.started).toHaveLength(1)
    expect(stateOf(executor, 'a')).toBe('executing')
    clock.increment(1)
    await flush()
    expect(tool.started).toHaveLength(2)
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result).toMatchObject({ isError: false, content: 'a done' })
  })

  it('P8 fails with its last error, and says how often it was tried', async () => {
    const { executor, add, tool, clock } = retryTurn({ attempts: 2 })
    add('a', 'Tool')
    tool.run('a').fail(new Error('first trouble'))
    await flush()
    clock.increment(0)
    await flush()
    tool.run('a').fail(new Error('last trouble'))
    const text = textOf((await toldOfOne(executor)).result)
    expect(text).toContain('last trouble')
    expect(text).not.toContain('first trouble')
    expect(text).toMatch(/2 times/)
    expect(tool.started).toHaveLength(2)
  })

  it('P7 calls when() with the error and the number of failures', async () => {
    const asked: unknown[] = []
    const { executor, add, tool, clock } = retryTurn({
      attempts: 5,
      when: (error: Error, failed: number) => {
        asked.push([error.message, failed])
        return error.message === 'busy'
      },
      backoffMs: (failed: number) => failed * 100,
    })
    add('a', 'Tool')
    tool.run('a').fail(new Error('busy'))
    await flush()
    clock.increment(100)
    await flush()
    tool.run('a').fail(new Error('busy'))
    await flush()
    clock.increment(199)
    await flush()
    expect(tool.started).toHaveLength(2)
    clock.increment(1)
    await flush()
    tool.run('a').fail(new Error('gone'))
    expect(textOf((await toldOfOne(executor)).result)).toContain('gone')
    expect(asked).toEqual([
      ['busy', 1],
      ['busy', 2],
      ['gone', 3],
    ])
  })

  it.each([
    ['when throws', { when: () => raise(new TypeError('when')) }],
    ['when promises', { when: async () => true }],
    ['when rejects', { when: () => Promise.reject(new TypeError('when')) }],
    ['when says something like yes', { when: () => 'yes' }],
    ['backoff throws', { backoffMs: () => raise(new TypeError('backoff')) }],
    ['backoff is no number', { backoffMs: () => '5' }],
    ['backoff is not a number', { backoffMs: () => Number.NaN }],
    ['backoff is below 0', { backoffMs: () => -1 }],
    ['backoff promises', { backoffMs: async () => 5 }],
  ])('P8 Y6 %s: there is no retry, and its error stays', async (_, fields) => {
    const { executor, add, tool, clock } = retryTurn({ attempts: 3, ...fields })
    add('a', 'Tool')
    tool.run('a').fail(new RangeError('of its own'))
    await flush()
    clock.increment(10_000)
    expect(textOf((await toldOfOne(executor)).result)).toContain('of its own')
    expect(tool.started).toHaveLength(1)
  })

  it.each([
    [{ attempts: 0 }],
    [{ attempts: 1.5 }],
    [{ attempts: '3' }],
    [{}],
    [{ attempts: 2, backoffMs: -1 }],
    [{ attempts: 2, backoffMs: Number.NaN }],
    [{ attempts: 2, when: true }],
    [3],
    [null],
  ])('T8 %j is rejected at construction, with the name of the tool', (retry) => {
    let refusal: unknown
    try {
      testTurn([roughTool('Flaky', done, { retry })])
    } catch (error) {
      refusal = error
    }
    expect(isSignalboxError(refusal)).toBe(true)
    expect(refusal).toMatchObject({ code: 'invalid_tool', message: expect.stringMatching(/Flaky.*retry/) })
  })

  it('P4 pre-hooks and the question run once', async () => {
    let hooked = 0
    let asked = 0
    const { executor, add, tool, clock } = hookTurn(
      { PreToolUse: [{ hooks: [rough(() => void hooked++)] }] },
      {
        tool: { retry: { attempts: 2 } },
        canUseTool: () => {
          asked++
          return { behavior: 'allow' }
        },
      },
    )
    add('a', 'Tool')
    await flush()
    tool.run('a').fail(new Error('once'))
    await flush()
    clock.increment(0)
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect([hooked, asked]).toEqual([1, 1])
  })

  it('Q4 an unsafe call keeps its place while it waits for a retry', async () => {
    const { executor, add, tool, clock } = retryTurn({ attempts: 2, backoffMs: 100 })
    add('a', 'Tool')
    add('b', 'Tool')
    tool.run('a').fail(new Error('once'))
    await flush()
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(tool.started).toEqual(['a'])
    clock.increment(100)
    await flush()
    expect(tool.started).toEqual(['a', 'a'])
  })

  it('A2 siblings are cancelled only after the last attempt', async () => {
    const { executor, add, tool, clock } = retryTurn(
      { attempts: 2, backoffMs: 100 },
      { safe: true, cancelsSiblingsOnError: true, obedient: true },
    )
    add('a', 'Tool')
    add('b', 'Tool')
    const sibling = tool.run('b').context.abortController.signal
    tool.run('a').fail(new Error('once'))
    await flush()
    expect(sibling.aborted).toBe(false)
    clock.increment(100)
    await flush()
    expect(sibling.aborted).toBe(false)
    tool.run('a').fail(new Error('twice'))
    await flush()
    expect(sibling.reason).toBe('sibling_error')
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, true])
  })

  it('Y2 progress of an earlier attempt is delivered while that attempt runs, and is late afterwards', async () => {
    const { executor, add, tool, clock } = retryTurn({ attempts: 2, backoffMs: 100 })
    const warnings = collectWarnings(executor)
    add('a', 'Tool')
    const first = tool.run('a')
    first.progress('in time')
    first.fail(new Error('once'))
    await flush()
    first.progress('between')
    clock.increment(100)
    await flush()
    first.progress('too late')
    first.finish()
    const second = tool.run('a')
    second.progress('second')
    second.finish()
    await flush()
    expect(progressOf(takeAll(executor)).map(({ data }) => data)).toEqual(['in time', 'second'])
    expect(warnings.of('late').map(({ count }) => count)).toEqual([1, 2])
  })

  it('T7 a generator is retried from its beginning', async () => {
    let attempts = 0
    const flaky = roughTool(
      'Flaky',
      async function* () {
        yield { type: 'progress', data: `attempt ${++attempts}` }
        if (attempts === 1) throw new Error('once')
        yield { type: 'result', data: 'done' }
      },
      { retry: { attempts: 2 } },
    )
    const { executor, add, clock } = testTurn([flaky])
    add('a', 'Flaky')
    await flush()
    clock.increment(0)
    await flush()
    const updates = takeAll(executor)
    expect(progressOf(updates).map(({ data }) => data)).toEqual(['attempt 1', 'attempt 2'])
    expect(updates.at(-1)?.message).toMatchObject({ toolUseResult: 'done' })
  })

  it('T7 an attempt that changes its input does not change that of the next', async () => {
    const { add, tool, clock } = retryTurn({ attempts: 2 })
    add('a', 'Tool', { paths: ['/a'] })
    const { input, fail } = tool.run('a')
    ;(input.paths as string[]).push('/b')
    fail(new Error('once'))
    await flush()
    clock.increment(0)
    await flush()
    expect(tool.run('a').input).toEqual({ paths: ['/a'] })
  })
})
