import { describe, expect, it } from 'vitest'
import { type Hooks, toApiMessages } from '../../src/index.ts'
import { collectWarnings, expectNoStrays, raise, textOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, testTurn } from '../support/turn.ts'
import { hookTurn, named, postHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

const afterwards = (specific: Record<string, unknown>, rest: object = {}) => says(specific, { ...rest }, 'PostToolUse')

describe('additions of a hook after the call', () => {
  it('P9 it gets the tool’s return value and its duration', async () => {
    let now = 1_000
    const seen: unknown[] = []
    const { executor, add, tool } = hookTurn(postHooks(rough((input) => void seen.push(input))), {
      clock: { setTimeout: () => 0, clearTimeout: () => undefined, now: () => now },
    })
    add('a', 'Tool', { command: 'ls' })
    now += 250
    tool.run('a').finish({ data: { files: 3 } })
    await toldOfOne(executor)
    expect(seen).toEqual([
      expect.objectContaining({
        hook_event_name: 'PostToolUse',
        tool_name: 'Tool',
        tool_input: { command: 'ls' },
        tool_response: { files: 3 },
        tool_use_id: 'a',
        duration_ms: 250,
      }),
    ])
  })

  it('P9 W5 context for the model comes after the result', async () => {
    const { executor, add, tool, message } = hookTurn(
      postHooks(named('lint', afterwards({ additionalContext: 'two warnings' }, { systemMessage: 'for you' }))),
    )
    add('a', 'Tool')
    tool.run('a').finish()
    const updates = await drain(executor)
    const messages = updates.map((update) => update.message)
    expect(messages.map(({ type }) => type)).toEqual(['user', 'attachment', 'system', 'system'])
    expect(messages[1]).toMatchObject({
      toolUseID: 'a',
      attachment: { type: 'hook_additional_context', content: 'two warnings', hookName: 'PostToolUse:lint' },
    })
    const [, answer] = toApiMessages([message, ...messages])
    expect(answer?.content).toMatchObject([{ type: 'tool_result' }, { text: expect.stringContaining('two warnings') }])
  })

  it.each([
    ['decision', rough(async () => ({ decision: 'block', reason: 'tests fail now' }))],
    ['permissionDecision', afterwards({ permissionDecision: 'deny', permissionDecisionReason: 'tests fail now' })],
  ])('P9 an objection by %s becomes context, and the result stays', async (_, hook) => {
    const { executor, add, tool } = hookTurn(postHooks(hook))
    add('a', 'Tool')
    tool.run('a').finish()
    const { result, attachments } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: false, content: 'a done' })
    expect(attachments).toMatchObject([{ type: 'hook_additional_context', content: 'tests fail now' }])
  })

  it('P9 continue false: the result stays, and the query ends after the turn', async () => {
    const { executor, add, tool } = hookTurn(postHooks(afterwards({}, { continue: false })))
    add('a', 'Tool')
    tool.run('a').finish()
    const { result, attachments, summary } = await toldOfOne(executor)
    expect(result.isError).toBe(false)
    expect(attachments).toMatchObject([{ type: 'hook_stopped_continuation', content: expect.any(String) }])
    expect(summary).toMatchObject({ preventedContinuation: true, stopReason: undefined })
  })

  it('P9 W5 messages of the tool come before messages of its hooks', async () => {
    const { executor, add, tool } = hookTurn(postHooks(afterwards({ additionalContext: 'x' })))
    add('a', 'Tool')
    tool.run('a').finish({ structuredOutput: { n: 1 } })
    expect((await toldOfOne(executor)).order).toEqual([
      'result',
      'structured_output',
      'hook_additional_context',
      'stop_hook_summary',
    ])
  })

  it('P9 its updatedInput is ignored: the call is over', async () => {
    const { executor, add, tool } = hookTurn(postHooks(afterwards({ updatedInput: { x: 1 } })))
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await toldOfOne(executor)).order).toEqual(['result', 'stop_hook_summary'])
  })
})

describe('an output that a hook replaces', () => {
  const play = async (hooks: Hooks, name = 'Tool', options = {}) => {
    const tool = heldTool(name, options)
    const { executor, add } = testTurn([tool.tool], { context: { hooks } })
    const warnings = collectWarnings(executor)
    add('a', name)
    tool.run('a').finish({ data: 'secret' })
    return { ...(await toldOfOne(executor)), warnings }
  }

  it('P9 the model gets updatedToolOutput', async () => {
    const { result } = await play(postHooks(afterwards({ updatedToolOutput: 'redacted' })))
    expect(result).toMatchObject({ isError: false, content: 'redacted', toolUseResult: 'redacted' })
  })

  it('P9 if several hooks replace it, the last in the order of registration counts', async () => {
    const { result } = await play(
      postHooks(afterwards({ updatedToolOutput: 'one' }), afterwards({ updatedToolOutput: 'two' })),
    )
    expect(result.content).toBe('two')
  })

  it.each([[null], [0], [false], [''], [[]], [{}]])('P9 %o is a valid output too', async (data) => {
    const { result, warnings } = await play(postHooks(afterwards({ updatedToolOutput: data })))
    expect(JSON.stringify(result.content)).not.toContain('secret')
    expect(result.isError).toBe(false)
    expect(warnings.all).toEqual([])
  })

  it('P9 it goes through the tool’s own mapper and its limit', async () => {
    const { result } = await play(postHooks(afterwards({ updatedToolOutput: 'y'.repeat(500) })), 'Tool', {
      maxResultSizeChars: 100,
    })
    expect(textOf(result).startsWith('yyy')).toBe(true)
    expect(textOf(result).length).toBeLessThan(400)
  })

  it('P9 P10 an output for which the mapper fails is sent as it is, with a warning; the original is never sent', async () => {
    const { result, warnings } = await play(
      postHooks(named('redactor', afterwards({ updatedToolOutput: 5 }))),
      'Tool',
      {
        mapResult: (data: unknown, id: string) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: typeof data === 'string' ? data.toUpperCase() : raise(new TypeError('text only')),
        }),
      },
    )
    expect(result).toMatchObject({ isError: false, content: '5' })
    expect(warnings.of('hook_output_unmapped')).toMatchObject([
      { toolUseID: 'a', message: expect.stringContaining('PostToolUse:redactor') },
    ])
  })

  it('P9 P10 an output that cannot be formatted: nothing of the original is sent', async () => {
    const formless = {
      get toJSON(): never {
        throw new TypeError('never')
      },
    }
    const { result } = await play(postHooks(afterwards({ updatedToolOutput: formless })), 'Tool', {
      mapResult: () => raise(new TypeError('never')),
    })
    expect(JSON.stringify(result.content)).not.toContain('secret')
  })

  it('P9 updatedMCPToolOutput is for MCP tools', async () => {
    const { result } = await play(postHooks(afterwards({ updatedMCPToolOutput: 'redacted' })), 'mcp__mail__read')
    expect(result.content).toBe('redacted')
  })

  it('P9 updatedMCPToolOutput for another tool: a warning, and the original is sent', async () => {
    const { result, warnings } = await play(postHooks(afterwards({ updatedMCPToolOutput: 'redacted' })))
    expect(result.content).toBe('secret')
    expect(warnings.of('hook_output_ignored')).toHaveLength(1)
  })

  it('P9 changing the tool’s return value in place has no effect', async () => {
    const seen: unknown[] = []
    const spoil = rough(({ ...input }) => {
      const { tool_response } = input as { tool_response: { files: string[] } }
      seen.push([...tool_response.files])
      tool_response.files.push('planted')
      return {}
    })
    const { executor, add, tool } = hookTurn(postHooks(spoil, spoil))
    add('a', 'Tool')
    tool.run('a').finish({ data: { files: ['real'] } })
    const { result } = await toldOfOne(executor)
    expect(seen).toEqual([['real'], ['real']])
    expect(JSON.stringify(result.content)).not.toContain('planted')
  })

  it('P9 a call that was denied or aborted has no hooks after it', async () => {
    const seen: unknown[] = []
    const note = rough((input) => void seen.push(input))
    const { executor, add, clock } = hookTurn(
      { PostToolUse: [{ hooks: [note] }], PostToolUseFailure: [{ hooks: [note] }] },
      {
        canUseTool: (_tool, { isDenied }) =>
          isDenied === true ? { behavior: 'deny', message: 'no' } : { behavior: 'allow' },
      },
    )
    add('denied', 'Tool', { isDenied: true })
    add('aborted', 'Tool')
    add('queued', 'Tool')
    await flush()
    executor.abort('escape')
    clock.increment(5_000)
    expect((await told(executor)).results).toHaveLength(3)
    expect(seen).toEqual([])
  })
})
