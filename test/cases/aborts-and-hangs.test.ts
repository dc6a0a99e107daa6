import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, stateOf, testTurn } from '../support/turn.ts'
import {
  collectWarnings,
  done,
  expectNoStrays,
  expectPaired,
  heldQuestions,
  idsOf,
  onlyOutcome,
  outcomes,
  roughTool,
  textOf,
} from './support.ts'

expectNoStrays()

describe('bodies that do not stop', () => {
  it('A7 a body that never returns gets an abort and a grace period; then the turn goes on without it (opencode#35207)', async () => {
    const mcp = heldTool('mcp__slow__get')
    const { executor, add, host, clock } = testTurn([mcp.tool])
    const warnings = collectWarnings(executor)
    add('a', 'mcp__slow__get')
    host.abort('escape')
    expect(mcp.run('a').context.abortController.signal.aborted).toBe(true)
    clock.increment(4_999)
    expect(await outcomes(executor)).toEqual([])
    clock.increment(1)
    expect(await onlyOutcome(executor)).toMatchObject({
      id: 'a',
      isError: true,
      toolUseResult: 'User rejected tool use',
    })
    expect(warnings.of('abandoned')).toHaveLength(1)
    expect(chartValue(executor).gate).toBe('open')
  })

  it('A7 A3 an abandoned body no longer counts for the gate: calls that waited for it start', async () => {
    const fetch = heldTool('Fetch', { cancel: true })
    const write = heldTool('Write')
    const { add, host, clock } = testTurn([fetch.tool, write.tool], { abortGraceMs: 100 })
    add('a', 'Fetch')
    add('b', 'Write')
    host.abort('interrupt')
    clock.increment(99)
    expect(write.started).toEqual([])
    clock.increment(1)
    expect(write.started).toEqual(['b'])
  })

  it('A7 what an abandoned body sends later is dropped and counted', async () => {
    const mcp = heldTool('Mcp')
    const { executor, add, clock } = testTurn([mcp.tool])
    const warnings = collectWarnings(executor)
    add('a', 'Mcp')
    executor.abort('escape')
    clock.increment(5_000)
    await onlyOutcome(executor)
    mcp.run('a').progress(1)
    mcp.run('a').progress(2)
    mcp.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toEqual([])
    expect(warnings.of('late').map(({ count, toolUseID }) => [count, toolUseID])).toEqual([
      [1, 'a'],
      [2, 'a'],
      [3, 'a'],
    ])
  })

  it('A7 the reason of the host reaches the body unchanged (openai-agents-js#1530, mastra#13646)', () => {
    const mcp = heldTool('Mcp', { safe: true })
    const { add, host } = testTurn([mcp.tool])
    const reason = { by: 'the user' }
    add('a', 'Mcp')
    add('b', 'Mcp')
    host.abort(reason)
    for (const id of ['a', 'b']) expect(mcp.run(id).context.abortController.signal.reason).toBe(reason)
  })

  it('A7 W8 for a body that finishes within its grace period, the result says that its effects remain', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write')
    executor.abort('escape')
    write.run('a').finish({ data: 'written', interrupted: false })
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/finished.*effects remain/)
    expect(result.toolUseResult).toBe('User rejected tool use')
  })

  it.each([
    ['within its grace', 0],
    ['after its grace', 5_000],
  ])('P8 A7 a body that rejects %s causes no second result and no unhandled rejection', async (_, waited) => {
    const mcp = heldTool('Mcp')
    const { executor, add, clock } = testTurn([mcp.tool])
    add('a', 'Mcp')
    executor.abort('escape')
    clock.increment(waited)
    mcp.run('a').fail(new Error('socket closed'))
    const result = await onlyOutcome(executor)
    expect(result.toolUseResult).toBe('User rejected tool use')
    expect(textOf(result)).not.toContain('socket closed')
    expect(await outcomes(executor)).toEqual([])
  })

  it('A4 a veto that comes after the abort changes nothing', async () => {
    let veto = (_: { result: false; message: string }): void => undefined
    const edit = heldTool('Edit', {
      validateInput: () => new Promise<{ result: false; message: string }>((resolve) => (veto = resolve)),
    })
    const { executor, add } = testTurn([edit.tool])
    add('a', 'Edit')
    await flush()
    executor.abort('escape')
    veto({ result: false, message: 'the file has changed' })
    expect(textOf(await onlyOutcome(executor))).not.toContain('the file has changed')
    expect(edit.started).toEqual([])
  })
})

describe('questions and children', () => {
  it('A3 an interrupt during a permission question ends the question (agent-shell#88)', async () => {
    const { canUseTool, question } = heldQuestions()
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool], { canUseTool })
    add('a', 'Write')
    host.abort('interrupt')
    expect(question('a').context.abortController.signal.aborted).toBe(true)
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
    expect(write.started).toEqual([])
    expect(chartValue(executor).gate).toBe('open')
  })

  it('A8 a call that comes after the stop never runs and is answered (hermes-agent PR#110505)', async () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    host.abort('escape')
    add('a', 'Write')
    expect(write.started).toEqual([])
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
  })

  it('A7 a body that was due in the same tick as the stop never starts', async () => {
    const started: string[] = []
    const turn = testTurn([
      roughTool('First', () => turn.executor.abort('escape'), { isConcurrencySafe: () => true }),
      roughTool('Second', async (_, { toolUseID }) => void started.push(toolUseID), { isConcurrencySafe: () => true }),
      roughTool('Barrier', done),
    ])
    turn.add('hold', 'Barrier', {}, { hold: true })
    turn.add('a', 'First')
    turn.add('b', 'Second')
    turn.executor.release('hold')
    const updates = await drain(turn.executor)
    expectPaired(turn.message, idsOf(updates))
    expect(started).toEqual([])
  })
})

describe('siblings', () => {
  it('T5 a search without a match cancels no other call, a real failure does (claude-code#64346)', async () => {
    const grep = heldTool('Grep', {
      safe: true,
      obedient: true,
      mapResult: (data) => ({ type: 'tool_result', tool_use_id: '', content: String(data), is_error: true }),
      cancelsSiblingsOnError: ({ data }) => data !== 'exit 1',
    })
    const { executor, add } = testTurn([grep.tool])
    for (const id of ['a', 'b', 'c']) add(id, 'Grep')
    grep.run('a').finish({ data: 'exit 1' })
    await flush()
    expect(stateOf(executor, 'b')).toBe('executing')
    grep.run('b').finish({ data: 'exit 2' })
    const results = await outcomes(executor)
    expect(results.map(({ content }) => content)).toEqual([
      'exit 1',
      'exit 2',
      '<tool_use_error>Cancelled: parallel tool call Grep errored</tool_use_error>',
    ])
  })

  it('T5 a failed edit leaves the edits of other files alone (claude-code#22264)', async () => {
    const edit = heldTool('Edit')
    const { executor, add } = testTurn([edit.tool])
    add('a', 'Edit', { file_path: '/a' })
    add('b', 'Edit', { file_path: '/b' })
    edit.run('a').fail(new Error('no such text'))
    await flush()
    edit.run('b').finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, false])
  })
})

describe('nothing is left behind', () => {
  it('A9 two thousand calls with one signal: one listener while they run, none afterwards (qwen-code#4423)', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add, host } = testTurn([read.tool], { maxConcurrency: Infinity })
    const ids = Array.from({ length: 2_000 }, (_, index) => `c${index}`)
    for (const id of ids) add(id, 'Read')
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(1)
    for (const id of ids) read.run(id).finish()
    expect(await outcomes(executor)).toHaveLength(2_000)
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(0)
  })

  it('Y8 no id stays in progress, however a call ended (opencode#40468)', async () => {
    let ids = new Set<string>()
    const interruptible: boolean[] = []
    const fetch = heldTool('Fetch', { safe: true, cancel: true })
    const { executor, add, clock } = testTurn([fetch.tool], {
      context: {
        setInProgressToolUseIDs: (update) => (ids = update(ids)),
        setHasInterruptibleToolInProgress: (value) => interruptible.push(value),
      },
    })
    for (const id of ['finished', 'failed', 'hangs']) add(id, 'Fetch')
    add('unknown', 'Nope')
    expect(ids).toEqual(new Set(['finished', 'failed', 'hangs']))
    fetch.run('finished').finish()
    fetch.run('failed').fail(new Error('no'))
    await flush()
    executor.abort('escape')
    clock.increment(5_000)
    expect(interruptible).toEqual([true, false])
    expect(await outcomes(executor)).toHaveLength(4)
    expect(ids).toEqual(new Set())
  })
})
