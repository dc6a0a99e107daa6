import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, flush, stateOf, testTurn } from '../support/turn.ts'
import { expectNoStrays, heldQuestions, onlyOutcome, outcomes, textOf } from './support.ts'

expectNoStrays()

describe('when answers come', () => {
  it.each([
    ['an allowance', (answer: (given: unknown) => void) => answer({ behavior: 'allow' })],
    ['a denial', (answer: (given: unknown) => void) => answer({ behavior: 'deny', message: 'no' })],
    ['a stop', (answer: (given: unknown) => void) => answer({ behavior: 'deny', message: 'no', interrupt: true })],
    ['a failure', (_: unknown, fail: (error: unknown) => void) => fail(new Error('dialog closed'))],
  ])('P6 %s after the abort is ignored', async (_, reply) => {
    const { canUseTool, question } = heldQuestions()
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool], { canUseTool })
    add('a', 'Write')
    executor.abort('escape')
    const { answer, fail } = question('a')
    reply(answer, fail)
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).not.toMatch(/no$|dialog closed/)
    expect(await outcomes(executor)).toEqual([])
    expect(write.started).toEqual([])
    expect(host.signal.aborted).toBe(false)
  })

  it('P6 several questions are open at once and are answered in any order (langgraph#6624)', async () => {
    const { canUseTool, question, asked } = heldQuestions()
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool], { canUseTool })
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    expect(asked).toEqual(['a', 'b', 'c'])
    question('c').answer({ behavior: 'allow' })
    question('b').answer({ behavior: 'deny', message: 'not b' })
    await flush()
    expect(read.started).toEqual(['c'])
    question('a').answer({ behavior: 'allow' })
    await flush()
    read.run('a').finish()
    read.run('c').finish()
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ])
  })

  it('Q4 an unsafe call that waits for permission counts as executing: nothing starts beside it', () => {
    const { canUseTool, asked } = heldQuestions()
    const { executor, add } = testTurn([heldTool('Write').tool], { canUseTool })
    add('a', 'Write')
    add('b', 'Write')
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(stateOf(executor, 'a')).toBe('executing')
    expect(asked).toEqual(['a'])
  })

  it('A3 an interrupt ends open questions whatever the behaviour, and does not stop a body with block behaviour', async () => {
    const { canUseTool, question } = heldQuestions()
    const read = heldTool('Read', { safe: true })
    const { executor, add, host } = testTurn([read.tool], { canUseTool })
    add('runs', 'Read')
    add('asks', 'Read')
    question('runs').answer({ behavior: 'allow' })
    await flush()
    host.abort('interrupt')
    expect(question('asks').context.abortController.signal.reason).toBe('interrupt')
    expect(read.run('runs').context.abortController.signal.aborted).toBe(false)
    read.run('runs').finish()
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['runs', false],
      ['asks', true],
    ])
  })

  it('A2 a sibling’s error ends an open question with the sibling text', async () => {
    const { canUseTool, question } = heldQuestions()
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const { executor, add } = testTurn([bash.tool], { canUseTool })
    add('a', 'Bash')
    add('b', 'Bash')
    question('a').answer({ behavior: 'allow' })
    await flush()
    bash.run('a').fail(new Error('exit 1'))
    await flush()
    question('b').answer({ behavior: 'allow' })
    const [, sibling] = await outcomes(executor)
    expect(sibling?.content).toBe('<tool_use_error>Cancelled: parallel tool call Bash errored</tool_use_error>')
    expect(bash.started).toEqual(['a'])
  })

  it('P6 a question answered twice: the first answer counts', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool], {
      canUseTool: () =>
        ({
          // biome-ignore lint/suspicious/noThenProperty: a thenable is the point
          then(answer: (given: unknown) => void) {
            answer({ behavior: 'deny', message: 'no' })
            answer({ behavior: 'allow' })
          },
        }) as never,
    })
    add('a', 'Write')
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
    expect(write.started).toEqual([])
  })
})
