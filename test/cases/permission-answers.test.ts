import { describe, expect, it } from 'vitest'
import {
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type PermissionAnswer,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, testTurn, toolUse } from '../support/turn.ts'
import { expectNoStrays, expectPaired, heldQuestions, onlyOutcome, outcomes, raise, textOf } from './support.ts'

expectNoStrays()

describe('answers', () => {
  it('P6 allow: the question has tool, input, context, message and id, and the call runs', async () => {
    const write = heldTool('Write')
    const asked: unknown[] = []
    const canUseTool: CanUseTool = (tool, input, context, message, id) => {
      asked.push([tool.name, input, context.toolUseID, message.uuid, id])
      return { behavior: 'allow' }
    }
    const { executor, add, message } = testTurn([write.tool], { canUseTool })
    add('a', 'Write', { file_path: '/a' })
    expect(asked).toEqual([['Write', { file_path: '/a' }, 'a', message.uuid, 'a']])
    write.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ isError: false })
  })

  it('P6 deny: the host’s message is the result, and the body never runs (mastra#20470)', async () => {
    const { canUseTool, question } = heldQuestions()
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool], { canUseTool })
    add('a', 'Write')
    add('b', 'Write')
    question('a').answer({ behavior: 'deny', message: 'not in this folder' })
    await flush()
    expect(write.started).toEqual([])
    question('b').answer({ behavior: 'allow' })
    await flush()
    write.run('b').finish()
    const [denied, allowed] = await outcomes(executor)
    expect(denied).toMatchObject({ id: 'a', isError: true })
    expect(denied?.content).toContain('not in this folder')
    expect(allowed).toMatchObject({ id: 'b', isError: false })
    expect(host.signal.aborted).toBe(false)
  })

  it('A6 deny with interrupt: its message stays, the query gets permission_stop, the other calls are rejected', async () => {
    const { canUseTool, question } = heldQuestions()
    const read = heldTool('Read', { safe: true, obedient: true })
    const { executor, add, host, message } = testTurn([read.tool], { canUseTool })
    for (const id of ['running', 'stopped', 'asking']) add(id, 'Read')
    question('running').answer({ behavior: 'allow' })
    await flush()
    question('stopped').answer({ behavior: 'deny', message: 'stop right there', interrupt: true })
    await flush()
    expect(host.signal.reason).toBe('permission_stop')
    add('late', 'Read')
    const results = await outcomes(executor)
    expectPaired(
      message,
      results.map(({ id }) => id),
    )
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true])
    expect(results.map(({ content }) => String(content).includes('stop right there'))).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(read.started).toEqual(['running'])
  })

  it('A6 A4 deny with interrupt after an interrupt still ends the turn', async () => {
    const { canUseTool, question } = heldQuestions()
    const write = heldTool('Write', { obedient: true })
    const { executor, add, host } = testTurn([write.tool], { canUseTool })
    host.abort('interrupt')
    add('a', 'Write')
    add('b', 'Write')
    question('a').answer({ behavior: 'deny', message: 'stop', interrupt: true })
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', true],
    ])
  })

  it('A6 after the discard an interrupting denial aborts nothing', async () => {
    const { canUseTool, question } = heldQuestions()
    const { executor, add, host } = testTurn([heldTool('Write').tool], { canUseTool })
    add('a', 'Write')
    executor.discard()
    question('a').answer({ behavior: 'deny', message: 'stop', interrupt: true })
    await flush()
    expect(host.signal.aborted).toBe(false)
    expect(await outcomes(executor)).toEqual([])
  })

  it('P6 without canUseTool: denied, with a message that says so', async () => {
    const write = heldTool('Write')
    const executor = new StreamingToolExecutor([write.tool])
    executor.addTool(toolUse('a', 'Write'), createAssistantMessage([]))
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/the host cannot ask a user/)
    expect(write.started).toEqual([])
  })

  it('P6 allowAllTools allows', async () => {
    expect(await allowAllTools(heldTool('X').tool, {}, {} as never, createAssistantMessage([]), 'a')).toEqual({
      behavior: 'allow',
    })
  })
})

describe('invalid answers', () => {
  const nonsense: [string, () => unknown][] = [
    ['undefined', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['the word allow', () => 'allow'],
    ['an unknown behaviour', () => ({ behavior: 'perhaps' })],
    ['an empty object', () => ({})],
    ['a denial without a message', () => ({ behavior: 'deny' })],
    ['a denial whose message is no text', () => ({ behavior: 'deny', message: { why: 'no' } })],
    [
      'an object whose getters throw',
      () => ({
        get behavior() {
          return raise(new TypeError('getter'))
        },
      }),
    ],
    ['a throw', () => raise(new TypeError('dialog crashed'))],
    ['a throw of undefined', () => raise(undefined)],
  ]

  it.each(nonsense)('P6 %s at once: an error result, nothing runs, the next question is asked', async (_, make) => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool], {
      canUseTool: (_tool, _input, _context, _message, id) =>
        id === 'a' ? (make() as PermissionAnswer) : { behavior: 'allow' },
    })
    expect(() => add('a', 'Write')).not.toThrow()
    add('b', 'Write')
    await flush()
    expect(write.started).toEqual(['b'])
    expect((await onlyOutcome(executor)).isError).toBe(true)
  })

  it.each(
    nonsense,
  )('P6 %s after a while: an error result, nothing runs, the next call is asked for', async (_, make) => {
    let answerAll = (): void => undefined
    const isTime = new Promise<void>((resolve) => (answerAll = resolve))
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool], {
      canUseTool: async (_tool, _input, _context, _message, id) => {
        await isTime
        return id === 'a' ? (make() as PermissionAnswer) : { behavior: 'allow' }
      },
    })
    add('a', 'Write')
    add('b', 'Write')
    await flush()
    expect(await outcomes(executor)).toEqual([])
    answerAll()
    await flush()
    expect(write.started).toEqual(['b'])
    expect((await onlyOutcome(executor)).isError).toBe(true)
  })
})
