import { describe, expect, it } from 'vitest'
import { createAssistantMessage, type StreamingToolExecutor } from '../../src/index.ts'
import { expectNoStrays, limitSteps } from '../cases/support.ts'
import { flush, stateOf, toolUse } from '../support/turn.ts'
import { failureHooks, hookTurn, postHooks, preHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** A hook that calls the executor, at once or after a tick, and then returns nothing. */
const does = (isLater: boolean, act: (executor: StreamingToolExecutor) => unknown) => {
  const own: { executor?: StreamingToolExecutor } = {}
  const run = () => {
    if (own.executor !== undefined) act(own.executor)
    return {}
  }
  return { own, hook: rough(isLater ? async () => Promise.resolve().then(run) : run) }
}

const times: [string, boolean][] = [
  ['at once', false],
  ['after a tick', true],
]

describe.each(times)('a hook before the call that, %s,', (_when, isLater) => {
  it('A4 Y6 aborts the turn: one result, the body never runs, no later hook starts', async () => {
    const later: string[] = []
    const { own, hook } = does(isLater, (executor) => executor.abort('enough'))
    const { executor, add, tool } = hookTurn(
      preHooks(
        hook,
        rough(() => void later.push('ran')),
      ),
    )
    own.executor = executor
    limitSteps(executor, 200)
    add('a', 'Tool')
    const { result } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: true, toolUseResult: 'User rejected tool use' })
    expect(tool.started).toEqual([])
    expect(later).toEqual(isLater ? ['ran'] : [])
  })

  it('A5 discards the run: no result is delivered, nothing runs', async () => {
    const { own, hook } = does(isLater, (executor) => executor.discard())
    const { executor, add, tool } = hookTurn(preHooks(hook))
    own.executor = executor
    add('a', 'Tool')
    add('b', 'Tool')
    expect((await told(executor)).order).toEqual([])
    expect(tool.started).toEqual([])
  })

  it('Q2 Y1 adds a call: it waits for its turn, and the results keep their order', async () => {
    let added = 0
    const { own, hook } = does(isLater, (executor) => {
      if (added++ === 0) executor.addTool(toolUse('b', 'Tool'), createAssistantMessage([]))
    })
    const { executor, add, tool } = hookTurn(preHooks(hook))
    own.executor = executor
    limitSteps(executor, 400)
    add('a', 'Tool')
    await flush()
    expect(tool.started).toEqual(['a'])
    expect(stateOf(executor, 'b')).toBe('queued')
    tool.run('a').finish()
    await flush()
    tool.run('b').finish()
    expect((await told(executor)).results.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('Q8 adds its own call again: it is the same call', async () => {
    const { own, hook } = does(isLater, (executor) =>
      executor.addTool(toolUse('a', 'Tool'), createAssistantMessage([])),
    )
    const { executor, add, tool } = hookTurn(preHooks(hook))
    own.executor = executor
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(tool.started).toEqual(['a'])
  })

  it('Y5 reads the results: it gets none that is not ready', async () => {
    const read: unknown[] = []
    const { own, hook } = does(isLater, (executor) => read.push(...executor.getCompletedResults()))
    const { executor, add, tool } = hookTurn(preHooks(hook))
    own.executor = executor
    add('a', 'Tool')
    await flush()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(read).toEqual([])
  })

  it('P6 answers a question that is not open yet: rejected, and the host is asked', async () => {
    const answers: boolean[] = []
    const asked: string[] = []
    const { own, hook } = does(isLater, (executor) => answers.push(executor.answer('a', { behavior: 'allow' })))
    const { executor, add } = hookTurn(preHooks(hook), {
      canUseTool: (_tool, _input, _context, _message, id) => {
        asked.push(id)
        return { behavior: 'deny', message: 'no' }
      },
    })
    own.executor = executor
    add('a', 'Tool')
    await toldOfOne(executor)
    expect([answers, asked]).toEqual([[false], ['a']])
  })
})

describe.each(times)('a hook after the call that, %s,', (_when, isLater) => {
  it.each([
    ['a success', postHooks, true],
    ['a failure', failureHooks, false],
  ] as const)('A7 Y6 aborts the turn after %s: the outcome stays', async (_, register, isSuccess) => {
    const { own, hook } = does(isLater, (executor) => executor.abort('enough'))
    const { executor, add, tool } = hookTurn(register(hook))
    own.executor = executor
    add('a', 'Tool')
    add('b', 'Tool')
    if (isSuccess) tool.run('a').finish()
    else tool.run('a').fail(new Error('of its own'))
    const { results } = await told(executor)
    expect(results.map(({ id, isError }) => [id, isError])).toEqual([
      ['a', !isSuccess],
      ['b', true],
    ])
    expect(tool.started).toEqual(['a'])
  })

  it('A5 discards the run: no result is delivered', async () => {
    const { own, hook } = does(isLater, (executor) => executor.discard())
    const { executor, add, tool } = hookTurn(postHooks(hook))
    own.executor = executor
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await told(executor)).order).toEqual([])
  })

  it('Q2 Y1 adds a call: it runs after this one', async () => {
    let added = 0
    const { own, hook } = does(isLater, (executor) => {
      if (added++ === 0) executor.addTool(toolUse('b', 'Tool'), createAssistantMessage([]))
    })
    const { executor, add, tool } = hookTurn(postHooks(hook, says({}, {}, 'PostToolUse')))
    own.executor = executor
    add('a', 'Tool')
    tool.run('a').finish()
    await flush()
    tool.run('b').finish()
    expect((await told(executor)).results.map(({ id }) => id)).toEqual(['a', 'b'])
  })
})
