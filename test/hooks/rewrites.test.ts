import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Decision } from '../../src/index.ts'
import { expectNoStrays, textOf } from '../cases/support.ts'
import { flush, stateOf, toolUse } from '../support/turn.ts'
import { hookTurn, named, preHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** A hook that sets these fields of the input. */
const puts = (name: string, fields: object) =>
  named(
    name,
    rough(async ({ tool_input }) => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { ...(tool_input as object), ...fields } },
    })),
  )

describe('an input that hooks change', () => {
  it('P4 reaches the body; the transcript keeps what the model sent', async () => {
    const { add, tool, message } = hookTurn(preHooks(says({ updatedInput: { command: 'ls' } })))
    add('a', 'Tool', { command: 'rm', force: true })
    await flush()
    expect(tool.run('a').input).toEqual({ command: 'ls' })
    expect(message.message.content).toEqual([toolUse('a', 'Tool', { command: 'rm', force: true })])
  })

  it('P4 in different fields: both changes apply, and each is recorded', async () => {
    const { executor, add, tool } = hookTurn(preHooks(puts('one', { x: 1 }), puts('two', { y: 2 })))
    add('a', 'Tool', { x: 0, y: 0 })
    await flush()
    expect(tool.run('a').input).toEqual({ x: 1, y: 2 })
    tool.run('a').finish()
    const { notes, order } = await toldOfOne(executor)
    expect(notes.filter(({ subtype }) => subtype === 'input_changed')).toMatchObject([
      { toolUseID: 'a', by: 'PreToolUse:one', before: { x: 0, y: 0 }, after: { x: 1, y: 0 } },
      { toolUseID: 'a', by: 'PreToolUse:two', before: { x: 1, y: 0 }, after: { x: 1, y: 2 } },
    ])
    expect(order).toEqual(['result', 'input_changed', 'input_changed', 'stop_hook_summary'])
  })

  it('P4 in the same field: the order of registration decides, not the order of replies', async () => {
    let answerFirst = (): void => undefined
    const isTime = new Promise<void>((resolve) => (answerFirst = resolve))
    const slow = named('slow', async () => {
      await isTime
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { x: 'slow' } } }
    })
    const { executor, add, tool } = hookTurn({
      PreToolUse: [{ hooks: [slow] }, { hooks: [puts('quick', { x: 'quick' })] }],
    })
    add('a', 'Tool', { x: 0 })
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
    answerFirst()
    await flush()
    expect(tool.run('a').input).toEqual({ x: 'quick' })
  })

  it('P4 one hook removes a field, another changes a second: both apply', async () => {
    const takes = says({ updatedInput: { keep: 1 } })
    const { add, tool } = hookTurn(preHooks(takes, puts('two', { keep: 2 })))
    add('a', 'Tool', { keep: 1, secret: 's' })
    await flush()
    expect(tool.run('a').input).toEqual({ keep: 2 })
  })

  it('P4 the unchanged input is accepted', async () => {
    const { add, tool } = hookTurn(preHooks(puts('same', {})))
    add('a', 'Tool', { x: { y: [1] } })
    await flush()
    expect(tool.run('a').input).toEqual({ x: { y: [1] } })
  })

  it('P4 a field named __proto__ is a field and changes no prototype', async () => {
    const { add, tool } = hookTurn(preHooks(says({ updatedInput: JSON.parse('{"__proto__":{"polluted":true}}') })))
    add('a', 'Tool')
    await flush()
    expect((tool.run('a').input as { polluted?: unknown }).polluted).toBeUndefined()
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('a changed input is checked again', () => {
  it('P4 an input that no longer matches the schema: denied, with the name of the hook', async () => {
    const { executor, add, tool } = hookTurn(preHooks(puts('one', { n: 1 }), puts('two', { n: 'many' })), {
      tool: { inputSchema: z.looseObject({ n: z.number() }) },
    })
    add('a', 'Tool', { n: 0 })
    const { result } = await toldOfOne(executor)
    expect(tool.started).toEqual([])
    expect(textOf(result)).toMatch(/InputValidationError: .*PreToolUse:two/)
    expect(textOf(result)).toContain('n')
  })

  it('P4 validateInput is called again', async () => {
    const { executor, add, tool } = hookTurn(preHooks(puts('one', { path: '/etc' })), {
      tool: {
        validateInput: ({ path }) => (path === '/etc' ? { result: false, message: 'not there' } : { result: true }),
      },
    })
    add('a', 'Tool', { path: '/tmp' })
    expect(textOf((await toldOfOne(executor)).result)).toContain('not there')
    expect(tool.started).toEqual([])
  })

  it('P4 P5 a deny rule applies to the changed input, and the hook’s own allow does not override it', async () => {
    const toolDecisions = new Map<string, Decision>()
    const hook = says({ permissionDecision: 'allow', updatedInput: { command: 'rm' } })
    const { executor, add, tool } = hookTurn(preHooks(hook), {
      tool: { matchesRule: (spec, { command }) => spec === command },
      context: { permissions: { deny: ['Tool(rm)'] }, toolDecisions },
    })
    add('a', 'Tool', { command: 'ls' })
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(tool.started).toEqual([])
    expect(toolDecisions.get('a')).toEqual({ behavior: 'deny', source: { by: 'rule', rule: 'Tool(rm)' } })
  })

  it('P4 the updatedInput of a hook that denies is ignored', async () => {
    const { executor, add } = hookTurn(
      preHooks(says({ permissionDecision: 'deny', permissionDecisionReason: 'no', updatedInput: { n: 'many' } })),
      { tool: { inputSchema: z.looseObject({ n: z.number() }) } },
    )
    add('a', 'Tool', { n: 0 })
    const { result, order } = await toldOfOne(executor)
    expect(textOf(result)).toContain('no')
    expect(order).not.toContain('input_changed')
  })

  it('P4 a call that became unsafe is queued again in its place, and its hooks do not run twice', async () => {
    let runs = 0
    const flip = rough(async (_input, id) => {
      runs++
      return id === 'b' ? { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { writes: true } } } : {}
    })
    const { executor, add, tool } = hookTurn(preHooks(flip), {
      tool: { isConcurrencySafe: ({ writes }) => writes !== true },
    })
    for (const id of ['a', 'b', 'c']) add(id, 'Tool')
    await flush()
    expect(stateOf(executor, 'b')).toBe('queued')
    expect(tool.started).toEqual(['a', 'c'])
    tool.run('a').finish()
    tool.run('c').finish()
    await flush()
    expect(tool.started).toEqual(['a', 'c', 'b'])
    expect(tool.run('b').input).toEqual({ writes: true })
    tool.run('b').finish()
    const { results, notes } = await told(executor)
    expect(results.map(({ id, isError }) => [id, isError])).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
    ])
    expect(runs).toBe(3)
    expect(notes.filter(({ subtype }) => subtype === 'input_changed')).toHaveLength(1)
  })

  it('P4 P3 a transform in the schema is applied once', async () => {
    const { add, tool } = hookTurn(preHooks(puts('adds', { extra: true })), {
      tool: { inputSchema: z.looseObject({ path: z.string().transform((path) => `/root${path}`) }) },
    })
    add('a', 'Tool', { path: '/a' })
    await flush()
    expect(tool.run('a').input).toEqual({ path: '/root/a', extra: true })
  })
})
