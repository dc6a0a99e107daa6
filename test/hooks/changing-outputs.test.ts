import { describe, expect, it } from 'vitest'
import { expectNoStrays, textOf } from '../cases/support.ts'
import { flush } from '../support/turn.ts'
import { hookTurn, preHooks, rough, says, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** Returns another value each time it is read, up to the last one. */
function shifty(key: string, ...words: unknown[]): object {
  let reads = 0
  return Object.defineProperty({ hookEventName: 'PreToolUse' }, key, {
    enumerable: true,
    get: () => words[Math.min(reads++, words.length - 1)],
  })
}

describe('the return value of a hook', () => {
  it.each([
    ['null', [{}, {}, null]],
    ['undefined', [{}, {}, undefined]],
    ['a list', [{}, {}, []]],
    ['a number', [{}, 5]],
  ])('P4 Y6 an updatedInput that is %s when it is read again: still one result', async (_, words) => {
    const { executor, add, tool } = hookTurn(
      preHooks(rough(() => ({ hookSpecificOutput: shifty('updatedInput', ...words) }))),
    )
    add('a', 'Tool', { command: 'ls' })
    await flush()
    if (tool.started.length > 0) tool.run('a').finish()
    await toldOfOne(executor)
  })

  it('P4 P5 a decision is read once: a getter’s next value does not count', async () => {
    const { executor, add, tool } = hookTurn(
      preHooks(rough(() => ({ hookSpecificOutput: shifty('permissionDecision', 'deny', 'allow') }))),
    )
    add('a', 'Tool')
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(tool.started).toEqual([])
  })

  it('P4 changing the returned object later has no effect', async () => {
    const updatedInput = { command: 'ls', flags: ['-l'] }
    const { add, tool } = hookTurn(preHooks(says({ updatedInput })))
    add('a', 'Tool', { command: 'x' })
    await flush()
    updatedInput.command = 'rm'
    updatedInput.flags.push('-r')
    expect(tool.run('a').input).toEqual({ command: 'ls', flags: ['-l'] })
  })

  it('P4 changing tool_input in place has no effect', async () => {
    const seen: unknown[] = []
    const given = { command: 'ls', flags: ['-l'] }
    const spoil = rough((input) => {
      const own = input.tool_input as typeof given
      seen.push(structuredClone(own))
      own.command = 'rm'
      own.flags.push('-r')
      return {}
    })
    const { add, tool, message } = hookTurn(preHooks(spoil, spoil))
    add('a', 'Tool', given)
    await flush()
    expect(seen).toEqual([
      { command: 'ls', flags: ['-l'] },
      { command: 'ls', flags: ['-l'] },
    ])
    expect(tool.run('a').input).toEqual({ command: 'ls', flags: ['-l'] })
    expect(message.message.content[0]?.input).toEqual({ command: 'ls', flags: ['-l'] })
  })

  it('P4 async: true: the hook has no effect, whatever other fields it returns', async () => {
    const { executor, add, tool } = hookTurn(preHooks(says({ permissionDecision: 'deny' }, { async: true })))
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    const { result, order } = await toldOfOne(executor)
    expect(result.isError).toBe(false)
    expect(order).toEqual(['result', 'stop_hook_summary'])
  })

  it.each([
    ['nothing', async () => undefined],
    ['an empty object', async () => ({})],
    [
      'fields of a later SDK',
      async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', novelty: 1 }, more: 2 }),
    ],
    [
      'texts that are none',
      async () => ({ systemMessage: 5, stopReason: {}, hookSpecificOutput: { additionalContext: 7 } }),
    ],
  ])('P4 %s: no effect, and the call runs', async (_, hook) => {
    const { executor, add, tool } = hookTurn(preHooks(rough(hook)))
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    const { result, order } = await toldOfOne(executor)
    expect(result.isError).toBe(false)
    expect(order).toEqual(['result', 'stop_hook_summary'])
  })

  it.each([
    ['too large', () => ({ text: 'x'.repeat(2_000_000) })],
    [
      'a cycle',
      () => {
        const loop: Record<string, unknown> = {}
        loop.self = loop
        return loop
      },
    ],
    [
      'a wide cycle',
      () => {
        const loop: Record<string, unknown> = {}
        for (let key = 0; key < 50; key++) loop[key] = loop
        return loop
      },
    ],
  ])('P4 an input that is %s: the call does not run, with the reason', async (_, make) => {
    const { executor, add, tool } = hookTurn(preHooks(says({ updatedInput: make() })))
    add('a', 'Tool', { command: 'ls' })
    const { result } = await toldOfOne(executor)
    expect(tool.started).toEqual([])
    expect(textOf(result)).toMatch(/large|deep/)
    expect(textOf(result).length).toBeLessThan(2_000)
  })
})
