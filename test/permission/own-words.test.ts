import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Decision, PermissionQuestion } from '../../src/index.ts'
import {
  collectWarnings,
  done,
  expectNoStrays,
  heldQuestions,
  never,
  onlyOutcome,
  outcomes,
  raise,
  roughTool,
} from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, testTurn } from '../support/turn.ts'

expectNoStrays()

describe('a tool’s own permission check', () => {
  it.each([
    ['throws', () => raise(new TypeError('broken check'))],
    ['throws undefined', () => raise(undefined)],
    ['rejects', () => Promise.reject(new TypeError('broken check'))],
    ['says null', () => null],
    ['says true', () => true],
    ['says a word', () => 'allow'],
    ['says something unknown', () => ({ behavior: 'perhaps' })],
    [
      'cannot be read',
      () => ({
        get behavior() {
          return raise(new TypeError('getter'))
        },
      }),
    ],
  ])('P5 T6 a check that %s denies, and the host is not asked', async (_, checkPermissions) => {
    const { canUseTool, asked } = heldQuestions()
    const ran: string[] = []
    const tool = roughTool('Tool', () => void ran.push('a'), { checkPermissions })
    const { executor, add } = testTurn([tool], { canUseTool, context: { permissions: { mode: 'bypassPermissions' } } })
    add('a', 'Tool')
    expect((await onlyOutcome(executor)).isError).toBe(true)
    expect([ran, asked]).toEqual([[], []])
  })

  it('P5 T6 a check that returns undefined leaves the decision to the others', async () => {
    const tool = roughTool('Tool', done, { checkPermissions: async () => undefined })
    const { executor, add } = testTurn([tool], { context: { permissions: { mode: 'bypassPermissions' } } })
    add('a', 'Tool')
    expect((await onlyOutcome(executor)).isError).toBe(false)
  })

  it('P5 P6 the host gets the reason and the message of a question', async () => {
    const questions: (PermissionQuestion | undefined)[] = []
    const check = (message?: string) => ({ checkPermissions: () => ({ behavior: 'ask', message }) })
    const { add } = testTurn(
      [roughTool('Wordy', done, check('touches /etc')), roughTool('Curt', done, check()), roughTool('Ruled', done)],
      {
        canUseTool: (_tool, _input, _context, _message, _id, question) => {
          questions.push(question)
          return { behavior: 'allow' }
        },
        context: { permissions: { ask: ['Ruled'] } },
      },
    )
    for (const name of ['Wordy', 'Curt', 'Ruled']) add(name, name)
    await flush()
    expect(questions).toEqual([
      { because: { by: 'tool' }, message: 'touches /etc' },
      { because: { by: 'tool' } },
      { because: { by: 'rule', rule: 'Ruled' } },
    ])
  })

  it.each([
    ['throws', () => raise(new TypeError('no idea'))],
    ['rejects', () => Promise.reject(new TypeError('no idea'))],
  ])('P5 T6 a matchesRule that %s is a match for a deny rule, with a warning', async (_, matchesRule) => {
    const { executor, add } = testTurn([roughTool('Tool', done, { matchesRule })], {
      context: { permissions: { deny: ['Tool(x)'] } },
    })
    const warnings = collectWarnings(executor)
    add('a', 'Tool')
    expect((await onlyOutcome(executor)).isError).toBe(true)
    expect(warnings.of('rule_check_failed')).toMatchObject([{ toolUseID: 'a', toolName: 'Tool' }])
  })

  it.each([
    ['throws', () => raise(new TypeError('no idea'))],
    ['mumbles', () => 'yes'],
    ['says 1', () => 1],
  ])('P5 T6 a matchesRule that %s is no match for an allow rule', async (_, matchesRule) => {
    const { canUseTool, asked } = heldQuestions()
    const { add } = testTurn([roughTool('Tool', done, { matchesRule })], {
      canUseTool,
      context: { permissions: { allow: ['Tool(x)'] } },
    })
    add('a', 'Tool')
    await flush()
    expect(asked).toEqual(['a'])
  })

  it.each([
    ['checkPermissions', { checkPermissions: never }],
    ['matchesRule', { matchesRule: never }],
  ])('A4 P5 an abort ends a %s that never answers', async (_, checks) => {
    const { executor, add } = testTurn([roughTool('Tool', done, checks)], {
      context: { permissions: { deny: 'matchesRule' in checks ? ['Tool(x)'] : [] } },
    })
    add('a', 'Tool')
    expect(await outcomes(executor)).toEqual([])
    executor.abort('escape')
    expect((await onlyOutcome(executor)).toolUseResult).toBe('User rejected tool use')
  })

  it.each([
    ['isReadOnly', 'plan'],
    ['editsWorkspace', 'acceptEdits'],
  ] as const)('P5 %s that throws or returns a promise does not pass mode %s', async (field, mode) => {
    const says = {
      throws: () => raise(new TypeError('broken')),
      promises: () => Promise.reject(new TypeError('broken')),
    }
    const ran: string[] = []
    const tools = Object.entries(says).map(([name, say]) =>
      roughTool(name, (_input, { toolUseID }) => void ran.push(toolUseID), { [field]: say }),
    )
    const { executor, add } = testTurn(tools, {
      canUseTool: () => ({ behavior: 'deny', message: 'no' }),
      context: { permissions: { mode } },
    })
    add('a', 'throws')
    add('b', 'promises')
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, true])
    expect(ran).toEqual([])
  })
})

describe('misuse by a host', () => {
  it('P4 P5 an input changed in place by the host does not bypass a deny rule', async () => {
    const shell = heldTool('Shell', { matchesRule: (spec, { command }) => spec === command })
    const { add } = testTurn([shell.tool], {
      canUseTool: (_tool, input) => {
        input.command = 'rm'
        return { behavior: 'allow' }
      },
      context: { permissions: { deny: ['Shell(rm)'] } },
    })
    add('a', 'Shell', { command: 'ls' })
    await flush()
    expect(shell.started.map((id) => shell.run(id).input)).not.toContainEqual({ command: 'rm' })
  })

  it('P4 P6 T2 an answer with the unchanged input changes nothing', async () => {
    const fetch = heldTool('Fetch', {
      inputSchema: z.looseObject({ url: z.string().transform((url) => ({ href: url })) }),
    })
    const { executor, add } = testTurn([fetch.tool], {
      canUseTool: (_tool, input) => ({ behavior: 'allow', updatedInput: input }),
    })
    add('a', 'Fetch', { url: 'https://example.org' })
    await flush()
    expect(await outcomes(executor)).toEqual([])
    expect(fetch.run('a').input).toEqual({ url: { href: 'https://example.org' } })
  })

  it('P5 an open question contains a copy: changing it has no effect', async () => {
    const { canUseTool } = heldQuestions()
    const shell = heldTool('Shell')
    const { executor, add } = testTurn([shell.tool], { canUseTool })
    add('a', 'Shell', { command: 'ls' })
    const [question] = executor.openQuestions()
    Object.assign(question?.input as object, { command: 'rm' })
    executor.answer('a', { behavior: 'allow' })
    await flush()
    expect(shell.run('a').input).toEqual({ command: 'ls' })
  })

  it.each([
    [
      'a map that throws',
      () => Object.assign(new Map<string, Decision>(), { set: () => raise(new TypeError('full')) }),
    ],
    ['a proxy of a map', () => new Proxy(new Map<string, Decision>(), {})],
  ])('Y6 P5 %s in place of toolDecisions causes no missing result', async (_, make) => {
    const { executor, add } = testTurn([roughTool('Tool', done)], {
      context: { toolDecisions: make(), permissions: { allow: ['Tool'] } },
    })
    add('a', 'Tool')
    expect((await onlyOutcome(executor)).isError).toBe(false)
  })

  it('P5 Y7 invalid settings from a context modifier are ignored, and the previous ones stay in force', async () => {
    const breaker = roughTool('Breaker', async () => ({
      data: 'done',
      contextModifier: (context: object) => ({ ...context, permissions: { mode: 'anarchy' } }),
    }))
    const { executor, add } = testTurn([breaker, roughTool('Tool', done)], {
      context: { permissions: { deny: ['Tool'] } },
    })
    const warnings = collectWarnings(executor)
    add('a', 'Breaker')
    add('b', 'Tool')
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, true])
    expect(warnings.all.map(({ code }) => code)).toEqual(['context_modifier_failed'])
  })
})
