import { describe, expect, it } from 'vitest'
import { type Hooks, isSignalboxError, StreamingToolExecutor } from '../../src/index.ts'
import { collectWarnings, done, expectNoStrays, outcomes, roughTool } from '../cases/support.ts'
import { flush, testTurn } from '../support/turn.ts'
import { rough, says } from './hook-turn.ts'

expectNoStrays()

const tools = () => [
  roughTool('Bash', done, { aliases: ['Shell'] }),
  roughTool('Edit', done),
  roughTool('NotebookEdit', done),
  roughTool('mcp__files__read', done),
  roughTool('mcp__files2__read', done),
]
const all = ['Bash', 'Edit', 'NotebookEdit', 'mcp__files__read', 'mcp__files2__read']

/** The tools for which a hook with this matcher runs. */
async function matchedBy(matcher: string | undefined): Promise<string[]> {
  const seen: string[] = []
  const look = rough(({ tool_name }) => void seen.push(tool_name))
  const { add } = testTurn(tools(), { context: { hooks: { PreToolUse: [{ matcher, hooks: [look] }] } } })
  for (const name of all) add(name, name)
  await flush()
  return seen
}

describe('matchers', () => {
  it.each([
    [undefined, all],
    ['', all],
    ['  ', all],
    ['*', all],
    ['Edit', ['Edit']],
    ['Shell', ['Bash']],
    ['edit', []],
    ['Edi', []],
    ['Bash|Edit', ['Bash', 'Edit']],
    ['Bash, Edit', ['Bash', 'Edit']],
    [' Bash | Edit ', ['Bash', 'Edit']],
    ['Bash||Edit|', ['Bash', 'Edit']],
    ['mcp__files', ['mcp__files__read']],
    ['mcp__files__read', ['mcp__files__read']],
    ['mcp__files|Edit', ['Edit', 'mcp__files__read']],
    ['mcp__.*', ['mcp__files__read', 'mcp__files2__read']],
    ['.*Edit', ['Edit', 'NotebookEdit']],
    ['^Edit$', ['Edit']],
    ['^(Bash|Edit)$', ['Bash', 'Edit']],
    ['.*', all],
  ])('P4 %j is for %j', async (matcher, names) => {
    expect(await matchedBy(matcher)).toEqual(names)
  })

  it('P4 a call by an alias is matched by the tool’s name, and the hook gets that name', async () => {
    const seen: string[] = []
    const look = rough(({ tool_name }) => void seen.push(tool_name))
    const { add } = testTurn(tools(), { context: { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [look] }] } } })
    add('a', 'Shell')
    await flush()
    expect(seen).toEqual(['Bash'])
  })

  it('P4 hooks of all matchers that fit run, in the order of registration', async () => {
    const seen: string[] = []
    const note = (word: string) => rough(() => void seen.push(word))
    const { add } = testTurn(tools(), {
      context: {
        hooks: {
          PreToolUse: [
            { matcher: '*', hooks: [note('1'), note('2')] },
            { matcher: 'Edit', hooks: [note('never')] },
            { matcher: 'B.*', hooks: [note('3')] },
          ],
        },
      },
    })
    add('a', 'Bash')
    await flush()
    expect(seen).toEqual(['1', '2', '3'])
  })
})

describe('invalid hooks', () => {
  const run = says({})
  it.each([
    [
      'a pattern that is none',
      { PreToolUse: [{ matcher: 'Bash(', hooks: [run] }] },
      /PreToolUse\[0\]\.matcher.*Bash\(/,
    ],
    ['a matcher that is no text', { PostToolUse: [{ matcher: /x/, hooks: [run] }] }, /PostToolUse\[0\]\.matcher/],
    ['a time of 0', { PreToolUse: [{ hooks: [run], timeout: 0 }] }, /timeout/],
    ['a time below 0', { PreToolUse: [{ hooks: [run], timeout: -1 }] }, /timeout/],
    ['a time that is none', { PreToolUse: [{ hooks: [run], timeout: Number.NaN }] }, /timeout/],
    ['a time in words', { PreToolUse: [{ hooks: [run], timeout: '5' }] }, /timeout/],
    ['no list of functions', { PreToolUse: [{ hooks: run }] }, /PreToolUse\[0\]\.hooks/],
    ['a hook that is no function', { PreToolUse: [{ hooks: [run, 'guard.sh'] }] }, /hooks\[1\]/],
    ['a hole among the hooks', { PreToolUse: [{ hooks: new Array(1) }] }, /hooks\[0\]/],
    ['no entries', { PreToolUse: run }, /PreToolUse/],
    ['an entry that is none', { PostToolUseFailure: [null] }, /PostToolUseFailure\[0\]/],
    ['what to do on failure', { PreToolUse: [{ hooks: [run], onFailure: 'ignore' }] }, /onFailure/],
    ['no object', 5, /hooks/],
    ['null', null, /hooks/],
  ])('P4 %s: rejected at construction, with the path of the field', (_, hooks, says) => {
    let refusal: unknown
    try {
      new StreamingToolExecutor(tools(), undefined, { hooks: hooks as Hooks })
    } catch (error) {
      refusal = error
    }
    expect(isSignalboxError(refusal)).toBe(true)
    expect(refusal).toMatchObject({ code: 'invalid_hook', message: expect.stringMatching(says) })
  })

  it('P4 hooks for unknown events are ignored', () => {
    const hooks = { SessionStart: [{ hooks: ['anything'] }], PreToolUse: undefined } as unknown as Hooks
    expect(() => new StreamingToolExecutor(tools(), undefined, { hooks })).not.toThrow()
  })

  it('P4 P5 a hook that was added to the same object applies to the next turn', async () => {
    const PreToolUse = [{ hooks: [says({})] }]
    const play = async () => {
      const { executor, add } = testTurn(tools(), { context: { hooks: { ...hooks } } })
      const same = testTurn(tools(), { context: { hooks } })
      add('a', 'Bash')
      same.add('a', 'Bash')
      const results = [...(await outcomes(executor)), ...(await outcomes(same.executor))]
      return results.map(({ isError }) => isError)
    }
    const hooks: Hooks = { PreToolUse }
    expect(await play()).toEqual([false, false])
    PreToolUse.push({ hooks: [says({ permissionDecision: 'deny' })] })
    expect(await play()).toEqual([true, true])
  })

  it('P4 Y7 invalid hooks from a context modifier are ignored, and the previous hooks stay in force', async () => {
    const breaker = roughTool('Breaker', async () => ({
      data: 'done',
      contextModifier: (context: object) => ({ ...context, hooks: { PostToolUse: 'nonsense' } }),
    }))
    const guard = { matcher: 'Bash', hooks: [says({ permissionDecision: 'deny' })] }
    const { executor, add } = testTurn([breaker, ...tools()], { context: { hooks: { PreToolUse: [guard] } } })
    const warnings = collectWarnings(executor)
    add('a', 'Breaker')
    add('b', 'Bash')
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, true])
    // a Bash tool without cancelsSiblingsOnError causes another warning
    const codes = warnings.all.map(({ code }) => code).filter((code) => code !== 'foreign_field')
    expect(codes).toEqual(['context_modifier_failed'])
  })

  it('P9 Y6 invalid hooks from a context modifier cause no missing result of a call after its own hooks', async () => {
    const breaker = roughTool(
      'Breaker',
      async () => ({
        data: 'done',
        contextModifier: (context: object) => ({ ...context, hooks: { PostToolUse: 'nonsense' } }),
      }),
      { isConcurrencySafe: () => true },
    )
    const flip = rough(async () => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { writes: true } },
    }))
    const writer = roughTool('Writer', done, {
      isConcurrencySafe: (input: { writes?: boolean }) => input.writes !== true,
    })
    const { executor, add } = testTurn([breaker, writer], {
      context: { hooks: { PreToolUse: [{ matcher: 'Writer', hooks: [flip] }] } },
    })
    add('a', 'Breaker')
    add('b', 'Writer')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })
})
