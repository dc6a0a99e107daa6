import { describe, expect, it } from 'vitest'
import { toApiMessages } from '../../src/index.ts'
import { expectNoStrays, heldQuestions, textOf } from '../cases/support.ts'
import { drain, flush } from '../support/turn.ts'
import { hookTurn, named, preHooks, rough, says, toldOfOne } from './hook-turn.ts'

expectNoStrays()

describe('the input of a hook', () => {
  it('P4 has the format of the Claude Agent SDK', async () => {
    const seen: unknown[] = []
    const look = rough((input, id, { signal }) => void seen.push([input, id, signal.aborted]))
    const { add } = hookTurn(preHooks(look), {
      context: { sessionId: 's1', cwd: '/home', transcriptPath: 7, permissions: { mode: 'acceptEdits' } },
    })
    add('a', 'Tool', { command: 'ls' })
    await flush()
    expect(seen).toEqual([
      [
        {
          session_id: 's1',
          transcript_path: '',
          cwd: '/home',
          permission_mode: 'acceptEdits',
          hook_event_name: 'PreToolUse',
          tool_name: 'Tool',
          tool_input: { command: 'ls' },
          tool_use_id: 'a',
        },
        'a',
        false,
      ],
    ])
  })

  it('P4 P3 contains the parsed and normalised input', async () => {
    const seen: unknown[] = []
    const { add } = hookTurn(preHooks(rough(({ tool_input }) => void seen.push(tool_input))), {
      tool: { normalizeInput: ({ path }) => ({ path: String(path).trim() }) },
    })
    add('a', 'Tool', { path: ' /a ' })
    await flush()
    expect(seen).toEqual([{ path: '/a' }])
  })

  it('P4 no hook runs for an input that the tool rejects', async () => {
    const seen: unknown[] = []
    const { executor, add } = hookTurn(preHooks(rough((input) => void seen.push(input))), {
      tool: { validateInput: () => ({ result: false, message: 'no such file' }) },
    })
    add('a', 'Tool')
    expect(textOf((await toldOfOne(executor)).result)).toContain('no such file')
    expect(seen).toEqual([])
  })
})

describe('the decision of a hook', () => {
  it.each([
    ['permissionDecision', says({ permissionDecision: 'deny', permissionDecisionReason: 'not on a Friday' })],
    ['the older decision', rough(async () => ({ decision: 'block', reason: 'not on a Friday' }))],
    [
      'the newer beside the older',
      says({ permissionDecision: 'deny', permissionDecisionReason: 'not on a Friday' }, { decision: 'approve' }),
    ],
  ])('P4 P5 deny by %s: its reason is the result', async (_, hook) => {
    const { canUseTool, asked } = heldQuestions()
    const { executor, add, tool } = hookTurn(preHooks(named('calendar', hook)), { canUseTool })
    add('a', 'Tool')
    const { result, attachments } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: true, toolUseResult: 'not on a Friday' })
    expect(attachments).toEqual([
      {
        type: 'hook_permission_decision',
        decision: 'deny',
        content: 'not on a Friday',
        hookName: 'PreToolUse:calendar',
      },
    ])
    expect([tool.started, asked]).toEqual([[], []])
  })

  it('P5 deny without a reason: the result names the hook', async () => {
    const { executor, add } = hookTurn(preHooks(named('calendar', says({ permissionDecision: 'deny' }))))
    add('a', 'Tool')
    expect(textOf((await toldOfOne(executor)).result)).toContain('PreToolUse:calendar')
  })

  it.each([
    ['permissionDecision', says({ permissionDecision: 'allow' })],
    ['the older decision', rough(async () => ({ decision: 'approve' }))],
  ])('P4 P5 allow by %s: the host is not asked', async (_, hook) => {
    const { canUseTool, asked } = heldQuestions()
    const { add, tool } = hookTurn(preHooks(hook), { canUseTool })
    add('a', 'Tool')
    await flush()
    expect([tool.started, asked]).toEqual([['a'], []])
  })

  it('P5 P6 ask: the host gets the hook’s message', async () => {
    const questions: unknown[] = []
    const { add } = hookTurn(preHooks(says({ permissionDecision: 'ask', permissionDecisionReason: 'touches /etc' })), {
      canUseTool: (_tool, _input, _context, _message, _id, question) => {
        questions.push(question)
        return { behavior: 'allow' }
      },
      context: { permissions: { allow: ['Tool'] } },
    })
    add('a', 'Tool')
    await flush()
    expect(questions).toEqual([{ because: { by: 'hook' }, message: 'touches /etc' }])
  })

  it.each([
    [['allow', 'deny', 'ask'], 'deny'],
    [['allow', 'ask'], 'ask'],
    [['defer', 'allow', 'ask'], 'defer'],
    [['defer', 'deny'], 'deny'],
    [['deny', 'allow'], 'deny'],
  ] as const)('P4 P5 %s: the strictest decision counts', async (words, strictest) => {
    const { canUseTool, asked } = heldQuestions()
    const { executor, add, tool } = hookTurn(preHooks(...words.map((word) => says({ permissionDecision: word }))), {
      canUseTool,
    })
    add('a', 'Tool')
    await flush()
    const seen = { deny: [[], []], defer: [[], []], ask: [[], ['a']], allow: [['a'], []] }
    expect([tool.started, asked]).toEqual(seen[strictest])
    if (strictest === 'deny') await toldOfOne(executor)
  })

  it('P4 continue false: the call does not run, and the query ends after the turn', async () => {
    const { executor, add, tool } = hookTurn(
      preHooks(
        named('stopper', says({ permissionDecision: 'allow' }, { continue: false, stopReason: 'enough for today' })),
      ),
    )
    add('a', 'Tool')
    const { result, attachments, summary } = await toldOfOne(executor)
    expect(tool.started).toEqual([])
    expect(textOf(result)).toContain('enough for today')
    expect(attachments).toContainEqual({
      type: 'hook_stopped_continuation',
      content: 'enough for today',
      hookEvent: 'PreToolUse',
      hookName: 'PreToolUse:stopper',
    })
    expect(summary).toMatchObject({ preventedContinuation: true, stopReason: 'enough for today' })
  })

  it('P4 W5 additionalContext goes to the model, systemMessage to the user', async () => {
    const { executor, add, tool, message } = hookTurn(
      preHooks(
        says({ additionalContext: 'the tree is dirty' }, { systemMessage: 'formatter is slow', suppressOutput: true }),
      ),
    )
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    const updates = await drain(executor)
    const messages = [message, ...updates.map((update) => update.message)]
    expect(messages.find((each) => each.type === 'system' && each.subtype === 'hook_message')).toMatchObject({
      content: 'formatter is slow',
      toolUseID: 'a',
    })
    const [, answer] = toApiMessages(messages)
    expect(answer?.content).toMatchObject([
      { type: 'tool_result', content: 'a done' },
      { type: 'text', text: expect.stringContaining('the tree is dirty') },
    ])
    expect(JSON.stringify(answer)).not.toContain('formatter is slow')
  })
})
