import { describe, expect, it } from 'vitest'
import type { HookInput, Hooks } from '../../src/index.ts'
import { expectNoStrays, textOf } from '../cases/support.ts'
import { flush } from '../support/turn.ts'
import { hookTurn, named, rough, says, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** Hooks for both endings of a body, and their inputs. */
function watching(): { hooks: Hooks; seen: HookInput[] } {
  const seen: HookInput[] = []
  const look = rough((input) => void seen.push(input))
  return { hooks: { PostToolUse: [{ hooks: [look] }], PostToolUseFailure: [{ hooks: [look] }] }, seen }
}

describe('hooks after a failure', () => {
  it('P9 after a throw they get the error', async () => {
    const { hooks, seen } = watching()
    const { executor, add, tool, clock } = hookTurn(hooks)
    add('a', 'Tool', { command: 'x' })
    clock.increment(40)
    tool.run('a').fail(new RangeError('out of range'))
    expect(textOf((await toldOfOne(executor)).result)).toContain('out of range')
    expect(seen).toMatchObject([
      {
        hook_event_name: 'PostToolUseFailure',
        tool_input: { command: 'x' },
        error: expect.stringContaining('out of range'),
        is_interrupt: false,
        duration_ms: 40,
      },
    ])
  })

  it.each([
    ['settles', (fail: () => void) => fail()],
    ['finishes all the same', (_fail: () => void, finish: () => void) => finish()],
    ['never settles', () => undefined],
  ])('P7 P9 after a timeout, when the body %s', async (_, settle) => {
    const { hooks, seen } = watching()
    const { executor, add, tool, clock } = hookTurn(hooks, { tool: { timeout: 100 } })
    add('a', 'Tool')
    const run = tool.run('a')
    clock.increment(100)
    settle(
      () => run.fail(new Error('told to stop')),
      () => run.finish(),
    )
    await flush()
    clock.increment(5_000)
    const { result } = await toldOfOne(executor)
    expect(textOf(result)).toContain('Timeout')
    expect(seen.map((input) => input.hook_event_name)).toEqual(['PostToolUseFailure'])
    expect(seen[0]).toMatchObject({ error: expect.stringContaining('Timeout') })
  })

  it('P9 only the last failure of a retried call counts', async () => {
    const { hooks, seen } = watching()
    const { executor, add, tool, clock } = hookTurn(hooks, { tool: { retry: { attempts: 3, backoffMs: 10 } } })
    add('a', 'Tool')
    for (const attempt of [1, 2, 3]) {
      tool.run('a').fail(new Error(`failure ${attempt}`))
      await flush()
      expect(seen).toHaveLength(attempt === 3 ? 1 : 0)
      clock.increment(10)
      await flush()
    }
    await toldOfOne(executor)
    expect(seen).toMatchObject([{ error: expect.stringContaining('failure 3') }])
  })

  it('P9 a call that succeeds on a retry has no failure', async () => {
    const { hooks, seen } = watching()
    const { executor, add, tool, clock } = hookTurn(hooks, { tool: { retry: { attempts: 2 } } })
    add('a', 'Tool')
    tool.run('a').fail(new Error('once'))
    await flush()
    clock.increment(0)
    await flush()
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result.isError).toBe(false)
    expect(seen.map((input) => input.hook_event_name)).toEqual(['PostToolUse'])
  })

  it('P9 a result that is marked as an error counts as a finished body', async () => {
    const { hooks, seen } = watching()
    const { executor, add, tool } = hookTurn(hooks, {
      tool: { mapResult: (_data, id) => ({ type: 'tool_result', tool_use_id: id, content: 'exit 1', is_error: true }) },
    })
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(seen.map((input) => input.hook_event_name)).toEqual(['PostToolUse'])
  })

  it('P9 their output cannot replace the error', async () => {
    const hook = says({ updatedToolOutput: 'all is well', additionalContext: 'try again' }, {}, 'PostToolUseFailure')
    const { executor, add, tool } = hookTurn({ PostToolUseFailure: [{ hooks: [hook] }] })
    add('a', 'Tool')
    tool.run('a').fail(new RangeError('out of range'))
    const { result, attachments } = await toldOfOne(executor)
    expect(textOf(result)).toContain('out of range')
    expect(result.isError).toBe(true)
    expect(attachments).toMatchObject([{ type: 'hook_additional_context', content: 'try again' }])
  })

  it('A2 P9 siblings are cancelled only after the hooks have finished', async () => {
    let say = (_output: object): void => undefined
    const hook = rough(() => new Promise((resolve) => (say = resolve)))
    const { executor, add, tool } = hookTurn(
      { PostToolUseFailure: [{ hooks: [hook] }] },
      { tool: { safe: true, cancelsSiblingsOnError: true, obedient: true } },
    )
    add('a', 'Tool')
    add('b', 'Tool')
    tool.run('a').fail(new Error('exit 1'))
    await flush()
    expect(tool.run('b').context.abortController.signal.aborted).toBe(false)
    say({})
    await flush()
    expect(tool.run('b').context.abortController.signal.reason).toBe('sibling_error')
    expect([...executor.getCompletedResults()].filter(({ message }) => message.type === 'user')).toHaveLength(2)
  })
})

describe('the summary', () => {
  it('W6 P9 one per call, with all its hooks, their durations and errors', async () => {
    let answer = (): void => undefined
    const slow = named('slow', async () => {
      await new Promise<void>((resolve) => (answer = resolve))
      return {}
    })
    const { executor, add, tool, clock } = hookTurn({
      PreToolUse: [{ hooks: [slow, named('quick', says({}))] }],
      PostToolUse: [
        {
          hooks: [
            named(
              'broken',
              rough(() => 5),
            ),
          ],
        },
      ],
    })
    add('a', 'Tool')
    await flush()
    clock.increment(500)
    answer()
    await flush()
    tool.run('a').finish()
    const { summary, order } = await toldOfOne(executor)
    expect(order.filter((kind) => kind === 'stop_hook_summary')).toHaveLength(1)
    expect(summary).toMatchObject({
      type: 'system',
      toolUseID: 'a',
      hookCount: 3,
      hookInfos: [
        { command: 'PreToolUse:slow', durationMs: 500 },
        { command: 'PreToolUse:quick', durationMs: 0 },
        { command: 'PostToolUse:broken', durationMs: 0 },
      ],
      hookErrors: [expect.stringContaining('PostToolUse:broken')],
      preventedContinuation: false,
      totalDurationMs: 500,
      isSlow: false,
    })
  })

  it.each([
    [250, 250, false],
    [250, 251, true],
    [501, 0, true],
  ])('P11 hooks of %i ms before and %i ms after: shown to the user %s', async (beforeMs, afterMs, isSlow) => {
    const answers: (() => void)[] = []
    const held = rough(() => new Promise((resolve) => answers.push(() => resolve({}))))
    const { executor, add, tool, clock } = hookTurn({
      PreToolUse: [{ hooks: [held, held] }],
      PostToolUse: [{ hooks: [held] }],
    })
    add('a', 'Tool')
    await flush()
    clock.increment(beforeMs)
    for (const answer of answers.splice(0)) answer()
    await flush()
    tool.run('a').finish()
    await flush()
    clock.increment(afterMs)
    for (const answer of answers.splice(0)) answer()
    expect((await toldOfOne(executor)).summary).toMatchObject({ totalDurationMs: beforeMs + afterMs, isSlow })
  })

  it('W6 if several hooks stop the query, the reason of the first counts', async () => {
    const stop = (stopReason?: string) => says({}, { continue: false, ...(stopReason && { stopReason }) })
    const { executor, add } = hookTurn({ PreToolUse: [{ hooks: [stop('first'), stop('second')] }] })
    add('a', 'Tool')
    const { summary, attachments } = await toldOfOne(executor)
    expect(summary).toMatchObject({ preventedContinuation: true, stopReason: 'first' })
    expect(attachments.filter(({ type }) => type === 'hook_stopped_continuation')).toHaveLength(2)
  })

  it('W6 a call without hooks has no summary', async () => {
    const { executor, add, tool } = hookTurn({ PreToolUse: [{ matcher: 'Other', hooks: [says({})] }] })
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await toldOfOne(executor)).order).toEqual(['result'])
  })
})
