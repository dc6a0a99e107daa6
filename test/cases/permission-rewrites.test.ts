import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, flush, stateOf, testTurn, toolUse } from '../support/turn.ts'
import { expectNoStrays, heldQuestions, onlyOutcome, outcomes, raise, textOf } from './support.ts'

expectNoStrays()

/** Safe, except for inputs that ask it to write. */
const shell = () =>
  heldTool('Shell', {
    inputSchema: z.looseObject({ command: z.string(), writes: z.boolean().optional() }),
    isConcurrencySafe: ({ writes }) => writes !== true,
  })

describe('an input that the host changes', () => {
  it('P6 a valid input reaches the body; the transcript keeps what the model sent', async () => {
    const { canUseTool, question } = heldQuestions()
    const tool = shell()
    const { executor, add, message } = testTurn([tool.tool], { canUseTool })
    add('a', 'Shell', { command: 'rm -r /' })
    question('a').answer({ behavior: 'allow', updatedInput: { command: 'ls' } })
    await flush()
    expect(tool.run('a').input).toEqual({ command: 'ls' })
    tool.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ isError: false })
    expect(message.message.content).toEqual([toolUse('a', 'Shell', { command: 'rm -r /' })])
  })

  it.each([
    ['a field of the wrong type', { command: 5 }, /command/],
    ['a field missing', {}, /command/],
    ['null', null, /object/],
    ['a string', '{"command":"ls"}', /object/],
    ['a list', [], /object/],
    [
      'an object that cannot be read',
      {
        get command() {
          return raise(new TypeError('getter'))
        },
      },
      /getter/,
    ],
  ])('P4 an input that no longer matches (%s): denied with the reason, and nothing runs', async (_, updatedInput, says) => {
    const { canUseTool, question } = heldQuestions()
    const tool = shell()
    const { executor, add } = testTurn([tool.tool], { canUseTool })
    add('a', 'Shell', { command: 'ls' })
    question('a').answer({ behavior: 'allow', updatedInput })
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/InputValidationError: .*permission/)
    expect(textOf(result)).toMatch(says)
    expect(tool.started).toEqual([])
  })

  it('P4 an input that is too large is denied before the schema sees it', async () => {
    const { canUseTool, question } = heldQuestions()
    const tool = shell()
    const { executor, add } = testTurn([tool.tool], { canUseTool, maxInputChars: 100 })
    add('a', 'Shell', { command: 'ls' })
    question('a').answer({ behavior: 'allow', updatedInput: { command: 'x'.repeat(200) } })
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
    expect(tool.started).toEqual([])
  })

  it('P4 validateInput is called again', async () => {
    const { canUseTool, question } = heldQuestions()
    const tool = heldTool('Edit', {
      validateInput: ({ file_path }) =>
        file_path === '/etc/passwd' ? { result: false, message: 'not that file' } : { result: true },
    })
    const { executor, add } = testTurn([tool.tool], { canUseTool })
    add('a', 'Edit', { file_path: '/a' })
    await flush()
    question('a').answer({ behavior: 'allow', updatedInput: { file_path: '/etc/passwd' } })
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('not that file')
    expect(tool.started).toEqual([])
  })

  it('A4 a rejection of the changed input after the abort changes nothing', async () => {
    const { canUseTool, question } = heldQuestions()
    const verdicts: ((verdict: { result: false; message: string }) => void)[] = []
    const tool = heldTool('Edit', {
      validateInput: ({ isChanged }) =>
        isChanged === true ? new Promise((resolve) => verdicts.push(resolve)) : { result: true },
    })
    const { executor, add } = testTurn([tool.tool], { canUseTool })
    add('a', 'Edit')
    await flush()
    question('a').answer({ behavior: 'allow', updatedInput: { isChanged: true } })
    await flush()
    executor.abort('escape')
    verdicts[0]?.({ result: false, message: 'too late to matter' })
    expect(textOf(await onlyOutcome(executor))).not.toContain('too late to matter')
  })

  it('P4 a schema with asynchronous parts checks the changed input too', async () => {
    const { canUseTool, question } = heldQuestions()
    const tool = heldTool('Slow', { inputSchema: z.looseObject({ n: z.number().refine(async (n) => n > 0) }) })
    const { executor, add } = testTurn([tool.tool], { canUseTool })
    add('good', 'Slow', { n: 1 })
    add('bad', 'Slow', { n: 1 })
    await flush()
    question('good').answer({ behavior: 'allow', updatedInput: { n: 2 } })
    await flush()
    expect(tool.run('good').input).toEqual({ n: 2 })
    tool.run('good').finish()
    await flush()
    question('bad').answer({ behavior: 'allow', updatedInput: { n: -2 } })
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['good', false],
      ['bad', true],
    ])
  })

  it('P6 a tool that changes the input it was given does not change the host’s', async () => {
    const { canUseTool, question } = heldQuestions()
    const tool = shell()
    const { add } = testTurn([tool.tool], { canUseTool })
    const updatedInput = { command: 'ls', flags: ['-l'] }
    add('a', 'Shell', { command: 'x' })
    question('a').answer({ behavior: 'allow', updatedInput })
    await flush()
    ;(tool.run('a').input.flags as string[]).push('-a')
    expect(updatedInput.flags).toEqual(['-l'])
  })
})

describe('a call that becomes unsafe', () => {
  const start = async () => {
    const questions = heldQuestions()
    const tool = shell()
    const turn = testTurn([tool.tool], { canUseTool: questions.canUseTool })
    turn.add('a', 'Shell', { command: 'a' })
    turn.add('b', 'Shell', { command: 'b' })
    turn.add('c', 'Shell', { command: 'c' })
    questions.question('a').answer({ behavior: 'allow' })
    await flush()
    questions.question('b').answer({ behavior: 'allow', updatedInput: { command: 'b!', writes: true } })
    await flush()
    return { ...turn, ...questions, tool }
  }

  it('P4 while another runs goes back to queued, and runs alone when its turn comes', async () => {
    const { executor, tool, question } = await start()
    expect(stateOf(executor, 'b')).toBe('queued')
    expect(tool.started).toEqual(['a'])
    tool.run('a').finish()
    await flush()
    expect(tool.started).toEqual(['a'])
    question('c').answer({ behavior: 'deny', message: 'no' })
    await flush()
    expect(tool.started).toEqual(['a', 'b'])
    expect(tool.run('b').input).toEqual({ command: 'b!', writes: true })
    expect(chartValue(executor).gate).toBe('exclusive')
    tool.run('b').finish()
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ])
  })

  it('P4 while nothing else runs starts at once', async () => {
    const { canUseTool, question, asked } = heldQuestions()
    const tool = shell()
    const { executor, add } = testTurn([tool.tool], { canUseTool })
    add('a', 'Shell', { command: 'a' })
    question('a').answer({ behavior: 'allow', updatedInput: { command: 'a!', writes: true } })
    await flush()
    expect(tool.run('a').input).toEqual({ command: 'a!', writes: true })
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(asked).toEqual(['a'])
  })

  it('P4 keeps its decision: the host is asked once', async () => {
    const { tool, question, asked } = await start()
    tool.run('a').finish()
    question('c').answer({ behavior: 'deny', message: 'no' })
    await flush()
    expect(tool.started).toEqual(['a', 'b'])
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  it('Q5 blocks calls that are added behind it', async () => {
    const { executor, add, asked } = await start()
    add('d', 'Shell', { command: 'd' })
    expect(asked).toEqual(['a', 'b', 'c'])
    expect(executor.explain('d')).toEqual({ ok: false, because: 'behindUnsafe', blockers: ['b'] })
  })

  it('A4 can be aborted while it waits again, and never runs', async () => {
    const { executor, tool, clock } = await start()
    executor.abort('escape')
    clock.increment(5_000)
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
    ])
    expect(tool.started).toEqual(['a'])
  })

  it('Y8 is not shown as in progress while it waits again', async () => {
    let ids = new Set<string>()
    const questions = heldQuestions()
    const tool = shell()
    const { add } = testTurn([tool.tool], {
      canUseTool: questions.canUseTool,
      context: { setInProgressToolUseIDs: (update) => (ids = update(ids)) },
    })
    add('a', 'Shell', { command: 'a' })
    add('b', 'Shell', { command: 'b' })
    questions.question('b').answer({ behavior: 'allow', updatedInput: { command: 'b', writes: true } })
    await flush()
    expect(ids).toEqual(new Set(['a']))
  })
})
