import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Decision } from '../../src/index.ts'
import { expectNoStrays, textOf } from '../cases/support.ts'
import { flush, stateOf, toolUse } from '../support/turn.ts'
import { hookTurn, named, preHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** A hook that puts these fields into the input it was given. */
const puts = (name: string, fields: object) =>
  named(
    name,
    rough(async ({ tool_input }) => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { ...(tool_input as object), ...fields } },
    })),
  )

describe('an input that hooks change', () => {
  it('P4 is what the body gets; the transcript keeps what the model sent', async () => {
    const { add, tool, message } = hookTurn(preHooks(says({ updatedInput: { command: 'ls' } })))
    add('a', 'Tool', { command: 'rm', force: true })
    await flush()
    expect(tool.run('a').input).toEqual({ command: 'ls' })
    expect(message.message.content).toEqual([toolUse('a', 'Tool', { command: 'rm', force: true })])
  })

  it('P4 in different places: both changes hold, and each is on record', async () => {
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

  it('P4 in the same place: in the order of registration, whoever answers first', async () => {
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

  it('P4 one takes a field away, another changes a second: both hold', async () => {
    const takes = says({ updatedInput: { keep: 1 } })
    const { add, tool } = hookTurn(preHooks(takes, puts('two', { keep: 2 })))
    add('a', 'Tool', { keep: 1, secret: 's' })
    await flush()
    expect(tool.run('a').input).toEqual({ keep: 2 })
  })

  it('P4 the same input once more is no harm', async () => {
    const { add, tool } = hookTurn(preHooks(puts('same', {})))
    add('a', 'Tool', { x: { y: [1] } })
    await flush()
    expect(tool.run('a').input).toEqual({ x: { y: [1] } })
  })

  it('P4 a field called __proto__ is a field, and nobody’s prototype', async () => {
    const { add, tool } = hookTurn(preHooks(says({ updatedInput: JSON.parse('{"__proto__":{"polluted":true}}') })))
    add('a', 'Tool')
    await flush()
    expect((tool.run('a').input as { polluted?: unknown }).polluted).toBeUndefined()
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('a changed input is looked at again', () => {
  it('P4 one that no longer fits the schema: denied, and it says by whom', async () => {
    const { executor, add, tool } = hookTurn(preHooks(puts('one', { n: 1 }), puts('two', { n: 'many' })), {
      tool: { inputSchema: z.looseObject({ n: z.number() }) },
    })
    add('a', 'Tool', { n: 0 })
    const { result } = await toldOfOne(executor)
    expect(tool.started).toEqual([])
    expect(textOf(result)).toMatch(/InputValidationError: .*PreToolUse:two/)
    expect(textOf(result)).toContain('n')
  })

  it('P4 the tool’s veto is heard again', async () => {
    const { executor, add, tool } = hookTurn(preHooks(puts('one', { path: '/etc' })), {
      tool: {
        validateInput: ({ path }) => (path === '/etc' ? { result: false, message: 'not there' } : { result: true }),
      },
    })
    add('a', 'Tool', { path: '/tmp' })
    expect(textOf((await toldOfOne(executor)).result)).toContain('not there')
    expect(tool.started).toEqual([])
  })

  it('P4 P5 a deny rule speaks of the changed input, and the hook’s own allow does not pass it', async () => {
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

  it('P4 a hook that denies changes nothing: its input is not even looked at', async () => {
    const { executor, add } = hookTurn(
      preHooks(says({ permissionDecision: 'deny', permissionDecisionReason: 'no', updatedInput: { n: 'many' } })),
      { tool: { inputSchema: z.looseObject({ n: z.number() }) } },
    )
    add('a', 'Tool', { n: 0 })
    const { result, order } = await toldOfOne(executor)
    expect(textOf(result)).toContain('no')
    expect(order).not.toContain('input_changed')
  })

  it('P4 a call that became unsafe goes back to its place, and its hooks are not run twice', async () => {
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

  it('P4 P3 a schema that changes what it reads does not change it twice', async () => {
    const { add, tool } = hookTurn(preHooks(puts('adds', { extra: true })), {
      tool: { inputSchema: z.looseObject({ path: z.string().transform((path) => `/root${path}`) }) },
    })
    add('a', 'Tool', { path: '/a' })
    await flush()
    expect(tool.run('a').input).toEqual({ path: '/root/a', extra: true })
  })
})
