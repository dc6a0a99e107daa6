import { describe, expect, it } from 'vitest'
import type { HookCallback, Hooks } from '../../src/index.ts'
import { expectNoStrays, never, raise, textOf } from '../cases/support.ts'
import { flush, stateOf } from '../support/turn.ts'
import { failureHooks, hookTurn, named, postHooks, preHooks, rough, says, toldOfOne } from './hook-turn.ts'

expectNoStrays()

const hostile = (): object =>
  new Proxy(
    {},
    {
      get: () => raise(new TypeError('trap')),
      has: () => raise(new TypeError('trap')),
      ownKeys: () => raise(new TypeError('trap')),
      getPrototypeOf: () => raise(new TypeError('trap')),
    },
  )

const brokenHooks: [string, (...args: Parameters<HookCallback>) => unknown][] = [
  ['throws at once', () => raise(new TypeError('hook broke'))],
  ['throws undefined', () => raise(undefined)],
  ['throws a proxy that throws', () => raise(hostile())],
  ['rejects', () => Promise.reject(new TypeError('hook broke'))],
  ['rejects with nothing', () => Promise.reject()],
  ['returns null', () => null],
  ['returns a number', async () => 5],
  ['returns a word', async () => 'allow'],
  ['returns true', () => true],
  ['returns a function', async () => () => ({})],
  ['returns a list', async () => [{ hookSpecificOutput: { permissionDecision: 'deny' } }]],
  ['returns an error in place of throwing it', async () => new TypeError('hook broke')],
  ['returns a proxy that throws', () => hostile()],
  ['promises a proxy whose fields throw', async () => ({ hookSpecificOutput: hostile() })],
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the point
  ['returns a thenable that throws', () => ({ then: () => raise(new TypeError('then')) })],
  ['has specifics that are none', async () => ({ hookSpecificOutput: 'allow' })],
  ['has a list for specifics', async () => ({ hookSpecificOutput: [{ permissionDecision: 'deny' }] })],
  ['has null for specifics', async () => ({ hookSpecificOutput: null })],
  ['speaks of another moment', says({ permissionDecision: 'allow' }, {}, 'PostToolUse')],
  ['has no such decision', says({ permissionDecision: 'perhaps' as never })],
  ['decides by the name of a method', says({ permissionDecision: 'constructor' as never })],
  ['decides by a word whether to continue', async () => ({ continue: 'false' as never })],
  ['decides null', says({ permissionDecision: null as never })],
  ['decides in the old way what is none', async () => ({ decision: 'yes' as never })],
  ['wants a list for an input', says({ updatedInput: [] as never })],
  ['wants null for an input', says({ updatedInput: null as never })],
  ['wants a word for an input', says({ updatedInput: 'ls' as never })],
]

describe('a hook before the call that fails', () => {
  it.each(
    brokenHooks,
  )('P4 P5 Y6 %s: the call does not run, and the model gets the name of the hook', async (_, hook) => {
    const { executor, add, tool } = hookTurn(preHooks(named('guard', rough(hook))))
    add('a', 'Tool')
    const { result, attachments, summary, order } = await toldOfOne(executor)
    expect(tool.started).toEqual([])
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('PreToolUse:guard')
    expect(attachments[0]).toMatchObject({
      type: 'hook_error_during_execution',
      hookEvent: 'PreToolUse',
      hookName: 'PreToolUse:guard',
      content: expect.any(String),
    })
    expect(attachments[1]).toMatchObject({ type: 'hook_permission_decision', decision: 'deny' })
    expect(summary).toMatchObject({ hookCount: 1, preventedContinuation: false })
    expect(summary?.hookErrors).toHaveLength(1)
    expect(order).toEqual(['result', 'hook_error_during_execution', 'hook_permission_decision', 'stop_hook_summary'])
  })

  it.each(
    brokenHooks,
  )('P4 with onFailure continue, %s: the call runs, and the host gets a message', async (_, hook) => {
    const { executor, add, tool } = hookTurn({ PreToolUse: [{ hooks: [rough(hook)], onFailure: 'continue' }] })
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    const { result, order } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: false, content: 'a done' })
    expect(order).toEqual(['result', 'hook_error_during_execution', 'stop_hook_summary'])
  })

  it('P4 the text for a hook that throws undefined does not call it a tool', async () => {
    const { executor, add } = hookTurn(preHooks(rough(() => raise(undefined))))
    add('a', 'Tool')
    const { result } = await toldOfOne(executor)
    expect(textOf(result)).not.toMatch(/the tool threw/i)
  })

  it('P5 a hook that fails open does not change the decisions of the others', async () => {
    const { executor, add, tool } = hookTurn({
      PreToolUse: [
        { hooks: [rough(() => raise(new Error('x')))], onFailure: 'continue' },
        { hooks: [says({ permissionDecision: 'deny', permissionDecisionReason: 'not today' })] },
      ],
    })
    add('a', 'Tool')
    const { result } = await toldOfOne(executor)
    expect(textOf(result)).toContain('not today')
    expect(tool.started).toEqual([])
  })
})

describe('a hook after the call that fails', () => {
  const ends: [string, (hook: HookCallback) => Hooks, boolean][] = [
    ['after a success', postHooks, true],
    ['after a failure', failureHooks, false],
  ]

  describe.each(ends)('%s', (_when, register, isSuccess) => {
    it.each(
      brokenHooks.filter(([name]) => !/decid|decision|moment|for an input/.test(name)),
    )('P9 Y6 %s: the result stands', async (_, hook) => {
      const { executor, add, tool } = hookTurn(register(rough(hook)))
      add('a', 'Tool')
      if (isSuccess) tool.run('a').finish()
      else tool.run('a').fail(new RangeError('of its own'))
      const { result, order } = await toldOfOne(executor)
      expect(result.isError).toBe(!isSuccess)
      expect(textOf(result)).toContain(isSuccess ? 'a done' : 'of its own')
      expect(order).toEqual(['result', 'hook_error_during_execution', 'stop_hook_summary'])
    })

    it('P9 timed out: the result stays', async () => {
      const signals: AbortSignal[] = []
      const { executor, add, tool, clock } = hookTurn(
        register(
          rough((_input, _id, { signal }) => {
            signals.push(signal)
            return never()
          }),
        ),
      )
      add('a', 'Tool')
      if (isSuccess) tool.run('a').finish()
      else tool.run('a').fail(new RangeError('of its own'))
      await flush()
      clock.increment(59_999)
      await flush()
      expect(stateOf(executor, 'a')).toBe('executing')
      clock.increment(1)
      const { result, attachments } = await toldOfOne(executor)
      expect(result.isError).toBe(!isSuccess)
      expect(attachments).toMatchObject([
        { type: 'hook_error_during_execution', content: expect.stringContaining('60 s') },
      ])
      expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    })
  })
})
