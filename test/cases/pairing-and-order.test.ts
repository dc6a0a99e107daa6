import { describe, expect, it } from 'vitest'
import { toApiMessages } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, stateOf, takeReady, testTurn, toolUse } from '../support/turn.ts'
import { expectNoStrays, expectPaired, idsOf, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

describe('one result per call', () => {
  it('Y6 A2 a failed shell call leaves no tool_use without its result (claude-code#1577)', async () => {
    const bash = heldTool('Bash', { cancelsSiblingsOnError: true, safe: true, obedient: true })
    const write = heldTool('Write')
    const { executor, add, message } = testTurn([bash.tool, write.tool])
    add('a', 'Bash')
    add('b', 'Bash', { command: 'npm test' })
    add('c', 'Write')
    add('d', 'Write', {}, { hold: true })
    bash.run('b').fail(new Error('exit 1'))
    await flush()
    add('e', 'Bash')
    const results = await outcomes(executor)
    expectPaired(
      message,
      results.map(({ id }) => id),
    )
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, true])
    expect(results.map(({ content }) => String(content).includes('Bash(npm test)'))).toEqual([
      true,
      false,
      true,
      true,
      true,
    ])
    expect(write.started).toEqual([])
  })

  it('Y6 A4 Esc while calls run, wait, are held, are unknown: each is answered once (codex#394, crush#1206)', async () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { executor, add, message, host, clock } = testTurn([read.tool, write.tool])
    add('a', 'Read')
    add('b', 'Nope')
    add('c', 'Read')
    add('d', 'Write')
    add('e', 'Read', {}, { hold: true })
    read.run('c').finish()
    await flush()
    host.abort('escape')
    add('f', 'Write')
    clock.increment(5_000)
    const updates = await drain(executor)
    expectPaired(message, idsOf(updates))
    const api = toApiMessages([message, ...updates.map((update) => update.message)])
    expect(api.map(({ role, content }) => [role, content.length])).toEqual([
      ['assistant', 6],
      ['user', 6],
    ])
  })

  it('Y6 an error is a result with is_error, never silence and never a success (CopilotKit#3510)', async () => {
    const tool = roughTool('Fetch', async () => raise(new TypeError('no route to host')))
    const { executor, add } = testTurn([tool])
    add('a', 'Fetch')
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('no route to host')
  })
})

describe('order', () => {
  it('Y1 results leave in emission order, whatever finishes first (claude-code#21906)', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    for (const id of ['a', 'b', 'c', 'd']) add(id, 'Read')
    read.run('d').finish()
    read.run('b').finish()
    await flush()
    expect(takeReady(executor)).toEqual([])
    read.run('a').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b'])
    read.run('c').fail(new Error('no'))
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['c', 'd'])
  })

  it('Y1 calls that are answered without running keep the order (pi#3468)', async () => {
    const read = heldTool('Read', { safe: true })
    const picky = heldTool('Picky', { validateInput: () => ({ result: false, message: 'not today' }) })
    const { executor, add } = testTurn([read.tool, picky.tool])
    add('a', 'Read')
    add('b', 'Nope')
    add('c', 'Read', 'not an object')
    add('d', 'Picky')
    await flush()
    expect(stateOf(executor, 'b')).toBe('completed')
    expect(takeReady(executor)).toEqual([])
    read.run('a').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('Y1 a call that hangs in preflight is not overtaken (pi#3468)', async () => {
    let accept = (_: { result: true }): void => undefined
    const slow = heldTool('Slow', {
      safe: true,
      validateInput: () => new Promise<{ result: true }>((resolve) => (accept = resolve)),
    })
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([slow.tool, read.tool])
    add('a', 'Slow')
    add('b', 'Read')
    read.run('b').finish()
    expect(await outcomes(executor)).toEqual([])
    accept({ result: true })
    await flush()
    slow.run('a').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })
})

describe('ids', () => {
  it('Q8 a reconnect sends the same block again at any moment: one run, one result (claude-code#20901)', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    const again = () => add('a', 'Write', { text: 'x', file_path: '/a' })
    add('a', 'Write', { file_path: '/a', text: 'x' })
    expect(again().id).toBe('a')
    write.run('a').finish()
    await flush()
    expect(again().id).toBe('a')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a'])
    expect(again().id).toBe('a')
    expect(await outcomes(executor)).toEqual([])
    expect(write.started).toEqual(['a'])
  })

  it.each([
    ['another input', 'Write', { file_path: '/b' }],
    ['another name', 'Read', { file_path: '/a' }],
    ['an unknown name', 'Nope', { file_path: '/a' }],
  ])('Q8 one id for two calls, the second with %s: a minted id and an error that names the clash (nanobot#4059)', async (_, name, input) => {
    const write = heldTool('Write')
    const read = heldTool('Read')
    const { executor, add, message } = testTurn([write.tool, read.tool])
    add('a', 'Write', { file_path: '/a' })
    const second = add('a', name, input)
    expect(second.id).not.toBe('a')
    expect(message.message.content[1]).toEqual({ type: 'tool_use', id: second.id, name, input })
    write.run('a').finish()
    const results = await outcomes(executor)
    expectPaired(
      message,
      results.map(({ id }) => id),
    )
    expect(results.map(({ isError }) => isError)).toEqual([false, true])
    expect(results[1]?.content).toContain('"a"')
    expect([...write.started, ...read.started]).toEqual(['a'])
  })

  it('Q8 a clash that is sent again is still one call with one result', async () => {
    const write = heldTool('Write')
    const { executor, message } = testTurn([write.tool])
    executor.addTool(toolUse('a', 'Write', { n: 1 }), message)
    const clash = executor.addTool(toolUse('a', 'Write', { n: 2 }), message)
    expect(executor.addTool(toolUse('a', 'Write', { n: 2 }), message).id).toBe(clash.id)
    write.run('a').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a', clash.id])
  })

  it('Q8 an unknown tool asked for twice with the same block is answered once', async () => {
    const { executor, message } = testTurn([])
    executor.addTool(toolUse('a', 'Nope'), message)
    executor.addTool(toolUse('a', 'Nope'), message)
    const result = await onlyOutcome(executor)
    expect(result).toEqual({
      id: 'a',
      content: '<tool_use_error>Error: No such tool available: Nope</tool_use_error>',
      isError: true,
      toolUseResult: 'Error: No such tool available: Nope',
    })
  })
})
