import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allowAllTools } from '../../src/index.ts'
import { done, expectNoStrays, outcomes, raise, roughTool } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, testTurn } from '../support/turn.ts'
import { hear } from './heard-events.ts'
import { hookTurn, named, postHooks, preHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

describe('final events of a call', () => {
  it('P11 success: tool, reply, input and decision', async () => {
    const { executor, add, tool, message } = hookTurn(preHooks(says({ permissionDecision: 'allow' })), {
      tool: { aliases: ['Alias'] },
    })
    const heard = hear(executor)
    add('a', 'Alias', { command: 'ls' })
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toEqual([
      {
        type: 'tool_use_success',
        messageID: message.message.id,
        toolUseID: 'a',
        toolName: 'Tool',
        durations: { preHooks: 0, permission: 0, calling: 0 },
        slowPhases: [],
        decision: { behavior: 'allow', source: { by: 'hook' } },
        input: '{"command":"ls"}',
        attempts: 1,
      },
    ])
  })

  it('P11 no decision if none was needed', async () => {
    const { executor, add, tool } = hookTurn({}, { canUseTool: allowAllTools })
    const heard = hear(executor)
    add('a', 'Tool')
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard.map((event) => 'decision' in event)).toEqual([false])
  })

  it.each([
    ['a throw', { call: () => raise(Object.assign(new Error('gone'), { code: 'ENOENT' })) }, /gone/, 'ENOENT'],
    [
      'a result that says so',
      {
        mapResult: (_: unknown, id: string) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: 'exit 1',
          is_error: true,
        }),
      },
      /exit 1/,
      'Error',
    ],
    ['a mapper that throws', { mapResult: () => raise(new TypeError('no form')) }, /no form/, 'Unformattable'],
    ['a veto', { validateInput: () => ({ result: false, message: 'not that one' }) }, /not that one/, 'InvalidInput'],
    ['an input that does not fit', { inputSchema: z.object({ n: z.number() }) }, /n/, 'InvalidInput'],
  ])('P11 P8 error, by %s', async (_, rest, message, label) => {
    const { call = done, ...options } = rest as { call?: () => never }
    const { executor, add } = testTurn([roughTool('Tool', call, options)])
    const heard = hear(executor)
    add('a', 'Tool')
    expect(await outcomes(executor)).toHaveLength(1)
    expect(heard).toMatchObject([
      { type: 'tool_use_error', toolUseID: 'a', label, message: expect.stringMatching(message) },
    ])
  })

  it('P11 Q3 an error for calls that never ran: an unknown tool, a clashing id', async () => {
    const { executor, add } = testTurn([roughTool('Tool', done)])
    const heard = hear(executor)
    add('a', 'Nothing')
    add('b', 'Tool', { n: 1 })
    add('b', 'Tool', { n: 2 })
    await outcomes(executor)
    expect(heard.map(({ type, toolName, attempts }) => [type, toolName, attempts])).toEqual([
      ['tool_use_error', 'Nothing', 0],
      ['tool_use_error', 'Tool', 0],
      ['tool_use_success', 'Tool', 1],
    ])
  })

  it.each([
    ['a host', { canUseTool: () => ({ behavior: 'deny', message: 'no thanks' }) as const }, { by: 'host' }],
    ['a rule', { context: { permissions: { deny: ['Tool'] } } }, { by: 'rule', rule: 'Tool' }],
    ['the mode', { context: { permissions: { mode: 'plan' } } } as const, { by: 'mode', mode: 'plan' }],
    ['nobody there', { canUseTool: () => raise(new Error('closed')) }, { by: 'host' }],
  ])('P11 rejected, by %s', async (_, options, source) => {
    const { executor, add } = hookTurn({}, options)
    const heard = hear(executor)
    add('a', 'Tool')
    const { result } = await toldOfOne(executor)
    expect(heard).toMatchObject([
      { type: 'tool_use_rejected', decision: { behavior: 'deny', source }, message: result.toolUseResult, attempts: 0 },
    ])
  })

  it('P11 A1 cancelled: by the user, by a sibling, before it started', async () => {
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true, obedient: true })
    const { executor, add } = testTurn([bash.tool])
    const heard = hear(executor)
    add('a', 'Bash')
    add('b', 'Bash')
    add('held', 'Bash', {}, { hold: true })
    bash.run('a').fail(new Error('exit 1'))
    await flush()
    add('late', 'Bash')
    executor.abort('escape')
    await flush()
    const by = (id: string) => heard.filter(({ toolUseID }) => toolUseID === id)
    expect(by('a')).toMatchObject([{ type: 'tool_use_error' }])
    for (const id of ['b', 'held', 'late']) {
      expect(by(id)).toMatchObject([{ type: 'tool_use_cancelled', reason: 'sibling_error' }])
    }
    const other = hookTurn({}, { tool: { obedient: true } })
    const heardThere = hear(other.executor)
    other.add('x', 'Tool')
    other.executor.abort(new Error('closed the lid'))
    await flush()
    expect(heardThere).toMatchObject([
      { type: 'tool_use_cancelled', reason: 'user_interrupted', message: expect.stringContaining('closed the lid') },
    ])
  })

  it('P11 P7 a timeout is an error', async () => {
    const { executor, add, clock } = hookTurn({}, { tool: { timeout: 50, obedient: true } })
    const heard = hear(executor)
    add('a', 'Tool')
    clock.increment(50)
    await toldOfOne(executor)
    expect(heard).toMatchObject([{ type: 'tool_use_error', label: 'Timeout' }])
  })

  it('P11 an event for each progress', async () => {
    const { executor, add, tool, clock } = hookTurn({})
    const heard = hear(executor)
    add('a', 'Tool')
    clock.increment(10)
    tool.run('a').progress('half')
    clock.increment(10)
    tool.run('a').progress('all')
    expect(heard.map(({ type, durations }) => [type, durations])).toEqual([
      ['tool_use_progress', { calling: 10 }],
      ['tool_use_progress', { calling: 20 }],
    ])
  })

  it('P11 P9 a failing post-hook, beside the success', async () => {
    const hooks = [
      named(
        'broken',
        rough(() => 5),
      ),
      named(
        'thrower',
        rough(() => raise(new Error('oh'))),
      ),
    ]
    const { executor, add, tool } = hookTurn(postHooks(...hooks))
    const heard = hear(executor)
    add('a', 'Tool')
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toMatchObject([
      { type: 'post_tool_hook_error', hookName: 'PostToolUse:broken', message: expect.any(String) },
      { type: 'post_tool_hook_error', hookName: 'PostToolUse:thrower', message: expect.stringContaining('oh') },
      { type: 'tool_use_success' },
    ])
  })

  it('P11 how often the body ran', async () => {
    const { executor, add, tool, clock } = hookTurn({}, { tool: { retry: { attempts: 2 } } })
    const heard = hear(executor)
    add('a', 'Tool')
    tool.run('a').fail(new Error('once'))
    await flush()
    clock.increment(0)
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toMatchObject([{ type: 'tool_use_success', attempts: 2 }])
  })

  it('P11 input is truncated to 200 characters, messages to 2,000', async () => {
    const { executor, add } = hookTurn({}, { canUseTool: () => ({ behavior: 'deny', message: 'm'.repeat(5_000) }) })
    const heard = hear(executor)
    add('a', 'Tool', { text: 'x'.repeat(5_000) })
    await toldOfOne(executor)
    const [event] = heard
    expect(event?.input).toHaveLength(200)
    expect(event?.input.startsWith('{"text":"xxx')).toBe(true)
    expect(event).toMatchObject({ type: 'tool_use_rejected', message: 'm'.repeat(2_000) })
  })

  it('P11 truncation never splits a character', async () => {
    const { executor, add } = hookTurn(
      {},
      { canUseTool: () => ({ behavior: 'deny', message: `m${'😀'.repeat(2_000)}` }) },
    )
    const heard = hear(executor)
    add('a', 'Tool', { text: `${'😀'.repeat(300)}` })
    add('b', 'Tool', { text: `x${'😀'.repeat(300)}` })
    await told(executor)
    for (const event of heard) {
      expect(event.input.isWellFormed()).toBe(true)
      expect('message' in event && event.message.isWellFormed()).toBe(true)
    }
    expect(heard).toHaveLength(2)
  })
})
