import { describe, expect, it } from 'vitest'
import { createAssistantMessage, StreamingToolExecutor, type ToolUseBlock } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, resultOf, stateOf, takeReady, testTurn, toolUse } from '../support/turn.ts'

const safe = () => heldTool('Read', { safe: true })
const unsafe = () => heldTool('Write')

describe('a call is an actor', () => {
  it('Q1 goes through queued, executing, completed and yielded', async () => {
    const read = safe()
    const write = unsafe()
    const { add, executor } = testTurn([read.tool, write.tool])
    add('r', 'Read')
    add('w', 'Write')
    expect([stateOf(executor, 'r'), stateOf(executor, 'w')]).toEqual(['executing', 'queued'])
    read.run('r').finish()
    await flush()
    expect([stateOf(executor, 'r'), stateOf(executor, 'w')]).toEqual(['completed', 'executing'])
    takeReady(executor)
    expect(stateOf(executor, 'r')).toBe('yielded')
  })

  it('Q1 every call has an actor of its own, in the system of the executor', () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read')
    add('b', 'Read')
    const [a, b] = executor.actor.getSnapshot().context.run.calls.map(({ ref }) => ref)
    expect(a).not.toBe(b)
    expect(a?.system).toBe(executor.actor.system)
  })

  it('Q2 is executing when addTool returns, and its body has begun', () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('r', 'Read')
    expect(stateOf(executor, 'r')).toBe('executing')
    expect(read.started).toEqual(['r'])
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['no fields', {}],
    ['a name that is no string', { id: 'x', name: { a: 1 }, input: {} }],
    ['an input that is no object', toolUse('x', 'Read', 'text')],
    [
      'a getter that throws',
      {
        get id() {
          throw new Error('no')
        },
      },
    ],
  ])('Q2 addTool does not throw for %s, and the call is answered', async (_, block) => {
    const executor = new StreamingToolExecutor([safe().tool])
    executor.addTool(block as ToolUseBlock, createAssistantMessage([]))
    const updates = await drain(executor)
    expect(updates).toHaveLength(1)
    expect(updates.map(resultOf)[0]?.is_error).toBe(true)
  })

  it('Q3 a call of an unknown tool is completed at once, and the turn goes on', async () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('x', 'Nope')
    add('r', 'Read')
    expect(stateOf(executor, 'x')).toBe('completed')
    expect(stateOf(executor, 'r')).toBe('executing')
    expect(takeReady(executor)).toEqual([['x', '<tool_use_error>Error: No such tool available: Nope</tool_use_error>']])
  })
})

describe('the gate', () => {
  it('Q4 safe calls execute side by side, up to maxConcurrency', async () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool, unsafe().tool], { maxConcurrency: 2 })
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    expect(read.started).toEqual(['a', 'b'])
    expect(executor.explain('c')).toEqual({ ok: false, because: 'full', blockers: ['a', 'b'] })
    // each call has its own reason, not that of the head of the queue
    add('w', 'Write')
    add('d', 'Read')
    expect(executor.explain('d')).toEqual({ ok: false, because: 'behindUnsafe', blockers: ['w'] })
    read.run('b').finish()
    await flush()
    expect(read.started).toEqual(['a', 'b', 'c'])
  })

  it('Q4 the default is ten at once', () => {
    const read = safe()
    const { add } = testTurn([read.tool])
    for (let n = 0; n < 12; n++) add(`r${n}`, 'Read')
    expect(read.started).toHaveLength(10)
  })

  it('Q4 an unsafe call executes alone, and explain names the calls it waits for', async () => {
    const read = safe()
    const write = unsafe()
    const { add, executor } = testTurn([read.tool, write.tool])
    add('a', 'Read')
    add('b', 'Read')
    add('w', 'Write')
    expect(executor.explain('w')).toEqual({ ok: false, because: 'waitsForRunning', blockers: ['a', 'b'] })
    read.run('a').finish()
    await flush()
    expect(write.started).toEqual([])
    read.run('b').finish()
    await flush()
    expect(write.started).toEqual(['w'])
    add('c', 'Read')
    expect(executor.explain('c')).toEqual({ ok: false, because: 'exclusiveRunning', blockers: ['w'] })
    expect(read.started).toEqual(['a', 'b'])
  })

  it('Q4 waiting for a permission counts as executing', async () => {
    const write = unsafe()
    const answers: (() => void)[] = []
    const { add, executor } = testTurn([write.tool], {
      canUseTool: () => new Promise((resolve) => answers.push(() => resolve({ behavior: 'allow' }))),
    })
    add('a', 'Write')
    add('b', 'Write')
    expect(chartValue(executor).gate).toBe('exclusive')
    expect(answers).toHaveLength(1)
    answers[0]?.()
    await flush()
    expect(write.started).toEqual(['a'])
    write.run('a').finish()
    await flush()
    expect(answers).toHaveLength(2)
  })

  it('Q5 nothing overtakes an unsafe call that waits', async () => {
    const read = safe()
    const write = unsafe()
    const { add, executor } = testTurn([read.tool, write.tool])
    add('a', 'Read')
    add('w', 'Write')
    add('b', 'Read')
    expect(executor.explain('b')).toEqual({ ok: false, because: 'behindUnsafe', blockers: ['w'] })
    read.run('a').finish()
    await flush()
    expect([read.started, write.started]).toEqual([['a'], ['w']])
    write.run('w').finish()
    await flush()
    expect(read.started).toEqual(['a', 'b'])
  })

  it('Q5 a held safe call is skipped, and starts when it is released', () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read', {}, { hold: true })
    add('b', 'Read')
    expect(read.started).toEqual(['b'])
    expect(executor.explain('a')).toEqual({ ok: false, because: 'held', blockers: [] })
    expect(executor.release('a')).toBe(true)
    expect(read.started).toEqual(['b', 'a'])
  })

  it('Q5 a held unsafe call ends the scan', () => {
    const read = safe()
    const write = unsafe()
    const { add, executor } = testTurn([read.tool, write.tool])
    add('w', 'Write', {}, { hold: true })
    add('b', 'Read')
    expect(read.started).toEqual([])
    expect(executor.explain('b')).toEqual({ ok: false, because: 'behindUnsafe', blockers: ['w'] })
    executor.release('w')
    expect(write.started).toEqual(['w'])
  })

  it('Q5 a released call keeps its place in the order', async () => {
    const write = unsafe()
    const { add, executor } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write', {}, { hold: true })
    add('c', 'Write')
    executor.release('b')
    write.run('a').finish()
    await flush()
    expect(write.started).toEqual(['a', 'b'])
  })

  it('Q5 release returns false for calls that are not held', async () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read', {}, { hold: true })
    expect(executor.release('nobody')).toBe(false)
    executor.release('a')
    expect(executor.release('a')).toBe(false)
    read.run('a').finish()
    await flush()
    expect(executor.release('a')).toBe(false)
    expect(takeReady(executor)).toEqual([['a', 'a done']])
  })

  it('Q6 the queue is scanned again when a call completes: several safe calls start at once', async () => {
    const read = safe()
    const write = unsafe()
    const { add } = testTurn([read.tool, write.tool])
    add('w', 'Write')
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    expect(read.started).toEqual([])
    write.run('w').fail(new Error('no'))
    await flush()
    expect(read.started).toEqual(['a', 'b', 'c'])
  })

  it('Q7 the gate is in the value of the chart: open, shared, exclusive', async () => {
    const read = safe()
    const write = unsafe()
    const { add, executor } = testTurn([read.tool, write.tool])
    expect(chartValue(executor)).toEqual({ gate: 'open', run: 'clear' })
    add('a', 'Read')
    add('w', 'Write')
    expect(chartValue(executor).gate).toBe('shared')
    read.run('a').finish()
    await flush()
    expect(chartValue(executor).gate).toBe('exclusive')
    write.run('w').finish()
    await flush()
    expect(chartValue(executor).gate).toBe('open')
  })
})

describe('ids and inputs', () => {
  it('Q8 the same call twice runs once and has one result, regardless of key order', async () => {
    const read = safe()
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read', { x: 1, y: [2, { z: 3 }] })
    add('a', 'Read', { y: [2, { z: 3 }], x: 1 })
    expect(read.started).toEqual(['a'])
    read.run('a').finish()
    expect((await drain(executor)).map(resultOf)).toHaveLength(1)
  })

  it('Q8 the same id with another input gets a minted id, in its result and in the transcript', async () => {
    const read = safe()
    const { add, executor, message } = testTurn([read.tool], { uuid: () => '0000-1' })
    add('a', 'Read', { x: 1 })
    const renamed = add('a', 'Read', { x: 2 })
    expect(renamed.id).toBe('toolu_00001')
    expect(message.message.content.map((block) => block.id)).toEqual(['a', 'toolu_00001'])
    read.run('a').finish()
    const results = (await drain(executor)).map(resultOf)
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(['a', 'toolu_00001'])
    expect(results[1]?.content).toContain('The id "a" was already used')
    expect(read.started).toEqual(['a'])
  })

  it('Q8 the same id with another name clashes too; a clash sent again is the same clash', async () => {
    const read = safe()
    const write = unsafe()
    const { add, executor, message } = testTurn([read.tool, write.tool])
    add('a', 'Read')
    executor.addTool(Object.freeze(toolUse('a', 'Write')), message)
    executor.addTool(Object.freeze(toolUse('a', 'Write')), message)
    read.run('a').finish()
    expect(await drain(executor)).toHaveLength(2)
    expect(write.started).toEqual([])
  })

  it('Q8 a block without a usable id gets a minted one', async () => {
    const read = safe()
    const { executor, message } = testTurn([read.tool])
    const block = executor.addTool({ type: 'tool_use', name: 'Read', input: {} } as unknown as ToolUseBlock, message)
    expect(block.id).toMatch(/^toolu_[0-9a-f]{32}$/)
    read.run(block.id).finish()
    expect((await drain(executor)).map(resultOf)[0]?.tool_use_id).toBe(block.id)
  })

  it('Q8 an input over maxInputChars gets an error result before the schema sees it', async () => {
    let parsed = 0
    const read = heldTool('Read', { safe: true })
    const schema = read.tool.inputSchema.refine(() => ++parsed > 0)
    const { add, executor } = testTurn([{ ...read.tool, inputSchema: schema }], { maxInputChars: 100 })
    add('big', 'Read', { text: 'x'.repeat(101) })
    add('list', 'Read', ['not', 'an', 'object'])
    const contents = (await drain(executor)).map((update) => resultOf(update).content)
    expect(contents[0]).toContain('larger than 100 characters')
    expect(contents[1]).toContain('expected object')
    expect([parsed, read.started]).toEqual([0, []])
  })

  it('Q9 cost does not grow with the number of calls: a turn of 20,000 reads each call a bounded number of times', async () => {
    let looks = 0
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([{ ...read.tool, call: async () => ({ data: 'x' }) }])
    const total = 20_000
    for (let n = 0; n < total; n++) add(`r${n}`, 'Read')
    for (const call of executor.actor.getSnapshot().context.run.calls) countReads(call, () => looks++)
    await drain(executor)
    expect(looks / total).toBeLessThan(60)
  })
})

/** Counts how often the schedule reads the stage of a call. */
function countReads(call: { stage: string }, count: () => void): void {
  let { stage } = call
  Object.defineProperty(call, 'stage', {
    get: () => {
      count()
      return stage
    },
    set: (next: string) => {
      stage = next
    },
  })
}
