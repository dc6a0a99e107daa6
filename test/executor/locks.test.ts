import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryJournals, openSession } from '../../src/durable/index.ts'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  createLocks,
  createSession,
  defineTool,
  type Resources,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { subAgent } from '../../src/query/sub-agent/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, resultOf, takeReady, testTurn, toolUse } from '../support/turn.ts'

const keyed = (name = 'Keyed', options = {}) =>
  heldTool(name, { resources: ({ reads, writes }) => ({ reads, writes }) as Resources, ...options })

describe('locks', () => {
  it('K6 executors with the same locks take turns where their calls conflict, in order of arrival', async () => {
    const context = { locks: createLocks() }
    const { tool, started, run } = keyed()
    const turns = [1, 2, 3].map(() => testTurn([tool], { context }))
    turns[0]?.add('a', 'Keyed', { writes: ['file:/x'] })
    turns[1]?.add('b', 'Keyed', { writes: ['file:/x', 'file:/y'] })
    turns[2]?.add('c', 'Keyed', { writes: ['file:/y'] })
    turns[0]?.add('d', 'Keyed', { reads: ['file:/z'] })
    await flush()
    // all keys at once or none: `b` holds nothing, but `c` came after it
    expect(started).toEqual(['a', 'd'])
    run('a').finish()
    await flush()
    expect(started).toEqual(['a', 'd', 'b'])
    run('b').finish()
    await flush()
    expect(started).toEqual(['a', 'd', 'b', 'c'])
  })

  it('K2 K6 a call without keys waits for one of another executor that writes everything', async () => {
    const context = { locks: createLocks() }
    const { tool, started, run } = keyed()
    const [one, other] = [testTurn([tool], { context }), testTurn([tool], { context })]
    one.add('a', 'Keyed', { writes: ['*'] })
    other.add('b', 'Keyed', {})
    await flush()
    expect(started).toEqual(['a'])
    run('a').finish()
    await flush()
    expect(started).toEqual(['a', 'b'])
  })

  it('K6 K7 explain says the key and who holds it', async () => {
    const context = { locks: createLocks() }
    const first = keyed('Edit')
    const one = testTurn([first.tool], { context })
    const other = testTurn([first.tool], { context })
    one.add('a', 'Edit', { writes: ['file:/x'] })
    other.add('b', 'Edit', { reads: ['file:/x'] })
    await flush()
    expect(other.executor.explain('b')).toEqual({
      ok: false,
      because: 'resource',
      blockers: ['a'],
      key: 'file:/x',
      holders: [{ toolUseID: 'a', toolName: 'Edit' }],
    })
    expect(context.locks.holders()).toEqual([
      { toolUseID: 'a', toolName: 'Edit', reads: [], writes: ['file:/x'], isWaiting: false },
      { toolUseID: 'b', toolName: 'Edit', reads: ['file:/x'], writes: [], isWaiting: true },
    ])
    first.run('a').finish()
    await flush()
    expect(other.executor.explain('b')).toBeUndefined()
  })

  it('K6 canExecuteTool does not read the locks: a call that waits for them is executing', async () => {
    const context = { locks: createLocks() }
    const { tool, started } = keyed()
    const [one, other] = [testTurn([tool], { context }), testTurn([tool], { context })]
    one.add('a', 'Keyed', { writes: ['file:/x'] })
    other.add('b', 'Keyed', { writes: ['file:/x'] })
    other.add('c', 'Keyed', { writes: ['file:/y'] })
    await flush()
    expect(other.executor.actor.getSnapshot().context.run.calls.map(({ stage }) => stage)).toEqual([
      'executing',
      'executing',
    ])
    expect(started).toEqual(['a', 'c'])
  })

  it('K6 without locks a call has no state for them', async () => {
    const { tool } = keyed()
    const { add, executor } = testTurn([tool])
    add('a', 'Keyed', { writes: ['file:/x'] })
    const [call] = executor.actor.getSnapshot().context.run.calls
    expect(call?.ref?.getSnapshot().value).toEqual({ executing: { calling: 'here' } })
    expect(call?.port.needsLocking).toBe(false)
  })

  it('K6 P7 the timeout of a body does not count while the call waits for keys', async () => {
    const context = { locks: createLocks() }
    const first = keyed()
    const second = keyed('Keyed', { timeout: 100 })
    const [one, other] = [testTurn([first.tool], { context }), testTurn([second.tool], { context })]
    one.add('a', 'Keyed', { writes: ['file:/x'] })
    other.add('b', 'Keyed', { writes: ['file:/x'] })
    await flush()
    other.clock.increment(10_000)
    await flush()
    expect(takeReady(other.executor)).toEqual([])
    first.run('a').finish()
    await flush()
    expect(second.started).toEqual(['b'])
    other.clock.increment(101)
    await flush()
    other.clock.increment(10_000)
    await flush()
    expect(takeReady(other.executor)).toEqual([['b', expect.stringContaining('100 ms')]])
    expect(context.locks.holders()).toEqual([])
  })

  it.each([
    'discard',
    'abandon',
    'throw',
    'stopped actor',
  ])('K6 a holder that ends by %s gives its keys back', async (how) => {
    const context = { locks: createLocks() }
    const { tool, started, run } = keyed()
    const [one, other] = [testTurn([tool], { context }), testTurn([tool], { context })]
    one.add('a', 'Keyed', { writes: ['file:/x'] })
    one.add('waits', 'Keyed', { writes: ['file:/x'] })
    other.add('b', 'Keyed', { writes: ['file:/x'] })
    await flush()
    if (how === 'discard') one.executor.discard()
    if (how === 'abandon') one.executor.abort('escape')
    if (how === 'stopped actor') one.executor.actor.stop()
    if (how === 'throw') {
      run('a').fail(new Error('no'))
      await flush()
      // `b` came before the second call of the same executor
      expect(started).toEqual(['a', 'b'])
      return
    }
    await flush()
    // the body does not listen, and may still write until its grace period is over
    expect(started).toEqual(['a'])
    one.clock.increment(5_000)
    await flush()
    expect(started).toEqual(['a', 'b'])
    expect(context.locks.holders().map(({ toolUseID }) => toolUseID)).toEqual(['b'])
  })

  it('K6 a reply that breaks off withdraws calls that wait for keys', async () => {
    const context = { locks: createLocks() }
    const { tool } = keyed()
    const [one, other] = [testTurn([tool], { context }), testTurn([tool], { context })]
    one.add('a', 'Keyed', { writes: ['file:/x'] })
    other.add('b', 'Keyed', { writes: ['file:/x'] })
    await flush()
    other.executor.withdrawRest('the reply broke off')
    await flush()
    expect(takeReady(other.executor)).toEqual([['b', expect.stringContaining('did not run')]])
    expect(context.locks.holders()).toHaveLength(1)
  })

  it('K6 the call of an agent takes no keys, its inner calls do', async () => {
    const context = { locks: createLocks() }
    const { tool, started, run } = keyed('Edit')
    const agent = subAgent({
      tools: [tool],
      model: scriptedModel([[{ call: 'Edit', id: 'inner', input: { writes: ['file:/x'] } }], 'done']),
    })
    const outer = testTurn([agent], { context })
    const other = testTurn([tool], { context })
    outer.add('agent', 'Agent', { prompt: 'go' })
    await flush()
    expect(context.locks.holders().map(({ toolUseID }) => toolUseID)).toEqual(['inner'])
    other.add('b', 'Edit', { writes: ['file:/x'] })
    other.add('c', 'Edit', { writes: ['file:/y'] })
    await flush()
    expect(started).toEqual(['inner', 'c'])
    run('inner').finish()
    await flush()
    expect(started).toEqual(['inner', 'c', 'b'])
    const [update] = await drain(outer.executor).then((all) => all.filter(({ message }) => message.type === 'user'))
    expect(update && resultOf(update).content).toBe('done')
  })

  it('K6 a call never conflicts with the call that it runs inside of, even where others wait for that one', async () => {
    const context = { locks: createLocks() }
    const { tool, started, run } = keyed('Edit')
    const nesting: AnyTool = defineTool({
      name: 'Nest',
      inputSchema: z.looseObject({}),
      resources: () => ({ writes: ['file:/x'] }),
      async call(_, { locks }) {
        await flush()
        const inner = new StreamingToolExecutor([tool], allowAllTools, { locks })
        inner.addTool(toolUse('inner', 'Edit', { writes: ['file:/x', 'file:/y'] }), createAssistantMessage([]))
        return { data: JSON.stringify((await drain(inner)).map(resultOf).map(({ content }) => content)) }
      },
    })
    const outer = testTurn([nesting], { context })
    const other = testTurn([tool], { context })
    outer.add('outer', 'Nest')
    // waits for the outer call, and came before the inner one
    other.add('b', 'Edit', { writes: ['file:/x', 'file:/y'] })
    await flush()
    expect(started).toEqual(['inner'])
    run('inner').finish()
    await flush()
    expect(started).toEqual(['inner', 'b'])
    expect(takeReady(outer.executor)).toEqual([['outer', '["inner done"]']])
  })

  it('K6 two calls that hold a key each and want the other one inside: one is refused, nothing hangs', async () => {
    const context = { locks: createLocks() }
    const { tool, run } = keyed('Edit')
    const nesting: AnyTool = defineTool({
      name: 'Nest',
      inputSchema: z.object({ own: z.string(), other: z.string() }),
      resources: ({ own }) => ({ writes: [own] }),
      async call({ other }, { locks, toolUseID }) {
        await flush()
        const inner = new StreamingToolExecutor([tool], allowAllTools, { locks })
        inner.addTool(toolUse(`in ${toolUseID}`, 'Edit', { writes: [other] }), createAssistantMessage([]))
        return { data: (await drain(inner)).map(resultOf).map(({ content }) => content)[0] }
      },
    })
    const turns = [testTurn([nesting], { context }), testTurn([nesting], { context })]
    turns[0]?.add('a', 'Nest', { own: 'file:/x', other: 'file:/y' })
    turns[1]?.add('b', 'Nest', { own: 'file:/y', other: 'file:/x' })
    await flush()
    expect(turns[1] && takeReady(turns[1].executor)).toEqual([
      ['b', expect.stringContaining('in use by Nest, which waits for the call around this one')],
    ])
    run('in a').finish()
    await flush()
    expect(turns[0] && takeReady(turns[0].executor)).toEqual([['a', 'in a done']])
    expect(context.locks.holders()).toEqual([])
  })

  it('K6 a session that is closed gives its keys back', async () => {
    const context = { locks: createLocks() }
    const { tool, started } = keyed('Edit', { obedient: true })
    const model = () => scriptedModel([[{ call: 'Edit', id: 'a', input: { writes: ['file:/x'] } }], 'done'])
    const sessions = [1, 2].map(() =>
      createSession({ tools: [tool], model: model(), canUseTool: allowAllTools, context }),
    )
    for (const session of sessions) void session.send('go')
    await flush()
    expect(started).toHaveLength(1)
    await sessions[0]?.close()
    await flush()
    expect(started).toHaveLength(2)
    await sessions[1]?.close()
    expect(context.locks.holders()).toEqual([])
  })

  it('K6 D15a a session that is suspended gives its keys back', async () => {
    const context = { locks: createLocks() }
    const { tool, started } = keyed('Edit', { obedient: true })
    const model = () => scriptedModel([[{ call: 'Edit', id: 'a', input: { writes: ['file:/x'] } }], 'done'])
    const options = { tools: [tool], canUseTool: allowAllTools, context }
    const journals = memoryJournals()
    const first = await openSession({ id: 'one', journals, model: model(), ...options })
    void first.send('go')
    for (let turn = 0; turn < 5 && started.length === 0; turn++) await flush()
    const second = createSession({ model: model(), ...options })
    void second.send('go')
    await flush()
    expect(started).toHaveLength(1)
    await first.suspend()
    await flush()
    expect(started).toHaveLength(2)
    await second.close()
    await first.close()
    expect(context.locks.holders()).toEqual([])
  })

  it('K6 locks that are none are refused where they are handed in', () => {
    expect(() => testTurn([], { context: { locks: {} as never } })).toThrow(/context\.locks.*createLocks\(\)/s)
  })
})
