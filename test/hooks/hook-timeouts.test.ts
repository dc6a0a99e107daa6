import { describe, expect, it } from 'vitest'
import { expectNoStrays, never, textOf } from '../cases/support.ts'
import { flush, stateOf } from '../support/turn.ts'
import { hookTurn, named, preHooks, rough, says, toldOfOne } from './hook-turn.ts'

expectNoStrays()

const hangs = (signals: AbortSignal[] = []) =>
  named(
    'sleeper',
    rough((_input, _id, { signal }) => {
      signals.push(signal)
      return never()
    }),
  )

describe('a hook before the call that hangs', () => {
  it('P4 times out after 60 s; the call does not run, and the hook’s signal aborts', async () => {
    const signals: AbortSignal[] = []
    const { executor, add, tool, clock } = hookTurn(preHooks(hangs(signals)))
    add('a', 'Tool')
    await flush()
    clock.increment(59_999)
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
    expect(signals[0]?.aborted).toBe(false)
    clock.increment(1)
    const { result, attachments, summary } = await toldOfOne(executor)
    expect(textOf(result)).toContain('PreToolUse:sleeper')
    expect(textOf(result)).toContain('60 s')
    expect(attachments[0]).toMatchObject({ type: 'hook_error_during_execution' })
    expect(summary?.hookErrors).toHaveLength(1)
    expect(signals[0]?.aborted).toBe(true)
    expect(tool.started).toEqual([])
  })

  it('P4 the timeout of a matcher is in seconds', async () => {
    const { executor, add, clock } = hookTurn({ PreToolUse: [{ hooks: [hangs()], timeout: 1.5 }] })
    add('a', 'Tool')
    clock.increment(1_499)
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
    clock.increment(1)
    expect(textOf((await toldOfOne(executor)).result)).toContain('1.5 s')
  })

  it('P4 each hook has its own timeout, and all are awaited', async () => {
    const { executor, add, tool, clock } = hookTurn({
      PreToolUse: [
        { hooks: [hangs()], timeout: 1, onFailure: 'continue' },
        { hooks: [hangs()], timeout: 5, onFailure: 'continue' },
        { hooks: [says({ permissionDecision: 'allow' })] },
      ],
    })
    add('a', 'Tool')
    clock.increment(4_999)
    await flush()
    expect(tool.started).toEqual([])
    clock.increment(1)
    await flush()
    tool.run('a').finish()
    const { attachments } = await toldOfOne(executor)
    expect(attachments.map(({ type }) => type)).toEqual([
      'hook_error_during_execution',
      'hook_error_during_execution',
      'hook_permission_decision',
    ])
  })

  it('P4 a timeout that timers do not support means no timeout', async () => {
    const { executor, add, clock } = hookTurn({ PreToolUse: [{ hooks: [hangs()], timeout: Number.POSITIVE_INFINITY }] })
    add('a', 'Tool')
    clock.increment(60_000_000)
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
  })

  it('P4 a reply after the timeout is ignored', async () => {
    let say = (_output: unknown): void => undefined
    const { executor, add, tool, clock } = hookTurn(preHooks(rough(() => new Promise((resolve) => (say = resolve)))))
    add('a', 'Tool')
    await flush()
    clock.increment(60_000)
    await flush()
    say({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } })
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(tool.started).toEqual([])
  })

  it('A9 a hook that replies in time leaves no timer', async () => {
    const timers = new Set<unknown>()
    let next = 0
    const clock = {
      setTimeout: () => {
        timers.add(++next)
        return next
      },
      clearTimeout: (id: unknown) => void timers.delete(id),
      now: () => 0,
    }
    const { executor, add, tool } = hookTurn(
      {
        PreToolUse: [
          { hooks: [says({}), rough(() => ({})), rough(() => Promise.reject(new Error('x')))], onFailure: 'continue' },
        ],
      },
      { clock },
    )
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(next).toBe(3)
    expect(timers).toEqual(new Set())
  })

  it('P4 a clock that throws fails the call, not the turn', async () => {
    const clock = {
      setTimeout: () => {
        throw new Error('no more timers')
      },
      clearTimeout: () => undefined,
    }
    const { executor, add, tool } = hookTurn(preHooks(says({})), { clock })
    add('a', 'Tool')
    expect(textOf((await toldOfOne(executor)).result)).toContain('no more timers')
    expect(tool.started).toEqual([])
  })
})
