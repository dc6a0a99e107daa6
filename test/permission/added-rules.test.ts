import { describe, expect, it } from 'vitest'
import type { PermissionLists } from '../../src/index.ts'
import { collectWarnings, done, expectNoStrays, heldQuestions, outcomes, roughTool, textOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

expectNoStrays()

const start = (permissions = {}) => {
  const questions = heldQuestions()
  const write = heldTool('Write')
  const turn = testTurn([write.tool, heldTool('Read', { safe: true }).tool, roughTool('Quick', done)], {
    canUseTool: questions.canUseTool,
    context: { permissions },
  })
  return { ...turn, ...questions, write, warnings: collectWarnings(turn.executor) }
}

describe('rules that come with an answer', () => {
  it('P5 P6 an allow rule: later calls of the same turn need no question', async () => {
    const { add, question, asked, write } = start()
    add('a', 'Write')
    add('b', 'Write')
    question('a').answer({ behavior: 'allow', addRules: { allow: ['Write'] } })
    await flush()
    write.run('a').finish()
    await flush()
    expect(write.started).toEqual(['a', 'b'])
    expect(asked).toEqual(['a'])
  })

  it('P5 P6 two rules that cover a call only together apply at once', async () => {
    const questions = heldQuestions()
    const seen: (readonly string[])[] = []
    const both = heldTool('Both', {
      matchesRule: (_spec, _input, { permissions }) => {
        seen.push(permissions?.allow ?? [])
        return (permissions?.allow ?? []).length === 2
      },
    })
    const { add } = testTurn([both.tool], { canUseTool: questions.canUseTool })
    add('a', 'Both')
    add('b', 'Both')
    questions.question('a').answer({ behavior: 'allow', addRules: { allow: ['Both(one)', 'Both(two)'] } })
    await flush()
    both.run('a').finish()
    await flush()
    expect(both.started).toEqual(['a', 'b'])
    expect(questions.asked).toEqual(['a'])
    expect(seen.at(-1)).toEqual(['Both(one)', 'Both(two)'])
  })

  it('P5 P6 a deny rule that comes with a yes: this call runs, later ones do not', async () => {
    const { executor, add, question, asked, write } = start()
    add('a', 'Quick')
    add('b', 'Write')
    question('a').answer({ behavior: 'allow', addRules: { deny: ['Write'] } })
    await flush()
    const results = await outcomes(executor)
    expect(results.map(({ id, isError }) => [id, isError])).toEqual([
      ['a', false],
      ['b', true],
    ])
    expect(asked).toEqual(['a'])
    expect(write.started).toEqual([])
  })

  it('P5 P6 a deny rule for the tool that was allowed: no yes overrides a deny rule', async () => {
    const { executor, add, question, write } = start()
    add('a', 'Write')
    question('a').answer({ behavior: 'allow', addRules: { deny: ['Write'] } })
    await flush()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true])
    expect(write.started).toEqual([])
  })

  it('P5 P6 a deny rule applies to open questions: a later yes has no effect', async () => {
    const questions = heldQuestions()
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool], { canUseTool: questions.canUseTool })
    add('a', 'Read')
    add('b', 'Read')
    await flush()
    questions.question('b').answer({ behavior: 'deny', message: 'never again', addRules: { deny: ['Read'] } })
    await flush()
    questions.question('a').answer({ behavior: 'allow' })
    await flush()
    const [a, b] = await outcomes(executor)
    expect(textOf(a as never)).toContain('Read')
    expect(textOf(b as never)).toContain('never again')
    expect(read.started).toEqual([])
  })

  it('P5 P6 a deny rule applies to a call that is still being decided', async () => {
    const { canUseTool, question } = heldQuestions()
    let say = (_matches: boolean): void => undefined
    const slow = heldTool('Slow', { safe: true, matchesRule: () => new Promise((resolve) => (say = resolve)) })
    const { executor, add } = testTurn([slow.tool, heldTool('Read', { safe: true }).tool], {
      canUseTool,
      context: { permissions: { allow: ['Slow(x)'] } },
    })
    add('a', 'Slow')
    add('b', 'Read')
    await flush()
    question('b').answer({ behavior: 'deny', message: 'no', addRules: { deny: ['Slow'] } })
    await flush()
    say(true)
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, true])
    expect(slow.started).toEqual([])
  })

  it('P6 they may come with a no too', async () => {
    const { executor, add, question, asked } = start()
    add('a', 'Write')
    add('b', 'Write')
    question('a').answer({ behavior: 'deny', message: 'no', addRules: { deny: ['Write'] } })
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, true])
    expect(asked).toEqual(['a'])
  })

  it('W7 they are in the context of the updates, after the existing rules', async () => {
    const { executor, add, question, write } = start({ allow: ['Read'], deny: ['Danger'] })
    add('a', 'Write')
    await flush()
    question('a').answer({ behavior: 'allow', addRules: { allow: ['Write', 'Read'], ask: ['Quick'] } })
    await flush()
    write.run('a').finish()
    await flush()
    const { permissions } = takeAll(executor).at(-1)?.newContext ?? {}
    expect(permissions).toEqual({ allow: ['Read', 'Write'], ask: ['Quick'], deny: ['Danger'] })
  })

  it('P6 the host’s own settings are not changed', async () => {
    const permissions = Object.freeze({ allow: Object.freeze(['Read']) })
    const { executor, add, question } = start(permissions)
    add('a', 'Write')
    await flush()
    expect(executor.answer('a', { behavior: 'deny', message: 'no', addRules: { allow: ['Quick'] } })).toBe(true)
    question('a').answer({ behavior: 'allow' })
    await flush()
    expect(permissions).toEqual({ allow: ['Read'] })
  })

  it.each([
    ['a rule that cannot be read', { allow: ['Write('] }],
    ['a list that is none', { deny: 'Write' }],
    ['null', null],
    [
      'something that throws when it is read',
      {
        get deny() {
          throw new TypeError('getter')
        },
      },
    ],
  ])('P6 %s: a warning, and the answer still counts', async (_, addRules) => {
    const { executor, add, question, write, warnings } = start()
    add('a', 'Write')
    question('a').answer({ behavior: 'allow', addRules })
    await flush()
    write.run('a').finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false])
    expect(warnings.of('invalid_rule')).toMatchObject([{ toolUseID: 'a' }])
  })

  it.each([
    'allow',
    'deny',
  ] as const)('P6 T6 a specifier in %s rules for a tool without matchesRule: a warning, and the rule is not added', async (list) => {
    const { executor, add, question, asked, write, warnings } = start()
    add('a', 'Quick')
    add('b', 'Write')
    const addRules: PermissionLists = { [list]: ['Write(/tmp/**)'] }
    question('a').answer({ behavior: 'allow', addRules })
    await flush()
    expect(warnings.of('invalid_rule')).toMatchObject([{ toolUseID: 'a' }])
    expect(asked).toEqual(['a', 'b'])
    question('b').answer({ behavior: 'allow' })
    await flush()
    write.run('b').finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, false])
  })
})

describe('settings that the host changes between two turns', () => {
  const play = async (permissions: { mode?: 'default' | 'plan'; deny: string[] }) => {
    const { executor, add } = testTurn([roughTool('Quick', done)], { context: { permissions } })
    add('a', 'Quick')
    return (await outcomes(executor)).map(({ isError }) => isError)
  }

  it('P5 a deny rule that was put into the same list applies in the next turn', async () => {
    const permissions = { deny: [] as string[] }
    expect(await play(permissions)).toEqual([false])
    permissions.deny.push('Quick')
    expect(await play(permissions)).toEqual([true])
  })

  it('P5 a mode that was set in the same object applies in the next turn', async () => {
    const permissions: { mode: 'default' | 'plan'; deny: string[] } = { mode: 'default', deny: [] }
    expect(await play(permissions)).toEqual([false])
    permissions.mode = 'plan'
    expect(await play(permissions)).toEqual([true])
  })
})
