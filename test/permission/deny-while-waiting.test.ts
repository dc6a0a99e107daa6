import { describe, expect, it } from 'vitest'
import type { ToolUseContext } from '../../src/index.ts'
import { expectNoStrays, heldQuestions, outcomes, textOf } from '../cases/support.ts'
import { type HeldToolOptions, heldTool } from '../support/held-tool.ts'
import { flush, stateOf, testTurn } from '../support/turn.ts'

expectNoStrays()

/** `a` runs; `b` was allowed with a change that makes it unsafe, so it waits for `a`; `c` has an open question. */
const start = async (more: HeldToolOptions = {}, permissions = {}) => {
  const { canUseTool, question, asked } = heldQuestions()
  const edit = heldTool('Edit', { isConcurrencySafe: (input) => !('writes' in input), ...more })
  const read = heldTool('Read', { safe: true })
  const turn = testTurn([edit.tool, read.tool], { canUseTool, context: { permissions } })
  turn.add('a', 'Read')
  turn.add('b', 'Edit')
  turn.add('c', 'Read')
  await flush()
  question('a').answer({ behavior: 'allow' })
  question('b').answer({ behavior: 'allow', updatedInput: { writes: true } })
  await flush()
  expect(stateOf(turn.executor, 'b')).toBe('queued')
  return { ...turn, question, asked, edit, read }
}

describe('a call that was allowed and is queued again', () => {
  it('P4 P5 a deny rule that is added meanwhile stops it: a denied call never runs', async () => {
    const { executor, question, edit, read } = await start()
    question('c').answer({ behavior: 'deny', message: 'no more edits', addRules: { deny: ['Edit'] } })
    await flush()
    read.run('a').finish()
    const [, b] = await outcomes(executor)
    expect(edit.started).toEqual([])
    expect(b).toMatchObject({ id: 'b', isError: true })
    expect(textOf(b as never)).toContain('Edit')
  })

  it('P4 P5 a mode that an earlier call sets stops it too', async () => {
    const { executor, question, edit, read } = await start()
    question('c').answer({ behavior: 'deny', message: 'no' })
    const plan = (context: ToolUseContext): ToolUseContext => ({ ...context, permissions: { mode: 'plan' } })
    read.run('a').finish({ contextModifier: plan })
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ])
    expect(edit.started).toEqual([])
  })

  it('P4 P6 the host is not asked twice, neither for an unrelated rule nor for an ask rule', async () => {
    const { executor, question, asked, edit, read } = await start()
    question('c').answer({ behavior: 'deny', message: 'no', addRules: { deny: ['Read'], ask: ['Edit'] } })
    await flush()
    read.run('a').finish()
    await flush()
    edit.run('b').finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, false, true])
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  it('P4 if no rule has changed, none is matched again', async () => {
    const looks: string[] = []
    const matchesRule = (spec: string): boolean => {
      looks.push(spec)
      return false
    }
    const { question, edit, read } = await start({ matchesRule }, { deny: ['Edit(x)'] })
    question('c').answer({ behavior: 'deny', message: 'no' })
    const before = looks.length
    read.run('a').finish()
    await flush()
    expect(edit.started).toEqual(['b'])
    expect(looks).toHaveLength(before)
  })

  it('P5 P6 a deny rule that is added while the answer is being checked applies too', async () => {
    const { canUseTool, question } = heldQuestions()
    const waiting: ((matches: boolean) => void)[] = []
    const matchesRule = () => new Promise<boolean>((resolve) => waiting.push(resolve))
    const slow = heldTool('Slow', { safe: true, matchesRule })
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([slow.tool, read.tool], {
      canUseTool,
      context: { permissions: { deny: ['Slow(x)'] } },
    })
    add('a', 'Slow')
    add('b', 'Read')
    await flush()
    waiting.shift()?.(false)
    await flush()
    question('a').answer({ behavior: 'allow', updatedInput: { other: true } })
    await flush()
    question('b').answer({ behavior: 'deny', message: 'no', addRules: { deny: ['Slow'] } })
    await flush()
    waiting.shift()?.(false)
    await flush()
    waiting.shift()?.(false)
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, true])
    expect(slow.started).toEqual([])
  })
})
