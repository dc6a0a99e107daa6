import { describe, expect, it } from 'vitest'
import type { StreamingToolExecutor } from '../../src/index.ts'
import { chartValue, drain, flush, isResult, stateOf, type TestTurn, testTurn } from '../support/turn.ts'
import { done, expectNoStrays, expectPaired, idsOf, never, outcomes, roughTool } from './support.ts'

expectNoStrays()

describe('a tool that calls its own executor', () => {
  it('Q2 adds a safe call from inside its body: it is executing when addTool returns', async () => {
    const states: string[] = []
    const turn: TestTurn = testTurn([
      roughTool(
        'Parent',
        async () => {
          turn.add('child', 'Child')
          states.push(stateOf(turn.executor, 'child'))
          return { data: 'parent' }
        },
        { isConcurrencySafe: () => true },
      ),
      roughTool('Child', done, { isConcurrencySafe: () => true }),
    ])
    turn.add('parent', 'Parent')
    expectPaired(turn.message, idsOf(await drain(turn.executor)))
    expect(states).toEqual(['executing'])
  })

  it('Q4 adds a call from inside an unsafe body: it waits until that body has ended', async () => {
    const order: string[] = []
    const turn: TestTurn = testTurn([
      roughTool('Parent', async () => {
        turn.add('child', 'Child')
        order.push(stateOf(turn.executor, 'child'))
        await flush()
        order.push('parent over')
        return { data: 'parent' }
      }),
      roughTool('Child', async () => {
        order.push('child runs')
        return { data: 'child' }
      }),
    ])
    turn.add('parent', 'Parent')
    expectPaired(turn.message, idsOf(await drain(turn.executor)))
    expect(order).toEqual(['queued', 'parent over', 'child runs'])
  })

  it('Q8 adds its own block again: it is the same call and runs once', async () => {
    let runs = 0
    const turn: TestTurn = testTurn([
      roughTool('Self', async (input, { toolUseID }, _canUseTool, message) => {
        runs++
        turn.executor.addTool({ type: 'tool_use', id: toolUseID, name: 'Self', input }, message)
        return { data: 'once' }
      }),
    ])
    turn.add('a', 'Self', { n: 1 })
    expect(idsOf(await drain(turn.executor))).toEqual(['a'])
    expect(runs).toBe(1)
  })

  it('Q9 adds a chain of 2,000 calls, each from the body before it', async () => {
    let left = 2_000
    const turn: TestTurn = testTurn([
      roughTool('Chain', () => {
        if (--left > 0) turn.add(`c${left}`, 'Chain')
        return { data: 'link' }
      }),
    ])
    turn.add('first', 'Chain')
    expect(await outcomes(turn.executor)).toHaveLength(2_000)
  })

  it('A4 aborts from inside its body: it and all others are answered once', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Stop', async () => {
        turn.executor.abort('from inside')
        return { data: 'done anyway' }
      }),
      roughTool('Read', done),
    ])
    turn.add('a', 'Stop')
    turn.add('b', 'Read')
    const results = await outcomes(turn.executor)
    expectPaired(
      turn.message,
      results.map(({ id }) => id),
    )
    expect(results.map(({ isError }) => isError)).toEqual([true, true])
  })

  it('A5 discards from inside its body: no result is delivered', async () => {
    const said: unknown[] = []
    const turn: TestTurn = testTurn([
      roughTool('Discard', async () => {
        said.push(turn.executor.discard())
        return { data: 'done' }
      }),
    ])
    turn.add('a', 'Discard')
    turn.add('b', 'Discard')
    expect(await outcomes(turn.executor)).toEqual([])
    expect(said).toEqual([[{ id: 'a', name: 'Discard', started: true, completed: false }]])
  })

  it('A5 is discarded from inside a listener to its progress: not even that progress is delivered', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Talker', async (_input, _context, _canUseTool, _message, onProgress) => {
        onProgress({ data: 'half way' })
        return { data: 'done' }
      }),
    ])
    turn.executor.on('tool_use_progress', () => turn.executor.discard())
    turn.add('a', 'Talker')
    await flush()
    expect([...turn.executor.getCompletedResults()]).toEqual([])
  })

  it('A4 aborts from inside its own abort listener', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Loop', (_, { abortController: { signal } }) => {
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            turn.executor.abort('again')
            turn.host.abort('and again')
            reject(signal.reason)
          })
        })
      }),
    ])
    turn.add('a', 'Loop')
    turn.executor.abort('escape')
    expect((await outcomes(turn.executor)).map(({ id, isError }) => [id, isError])).toEqual([['a', true]])
  })

  it('Y5 reads what is ready from inside its body: handed over once', async () => {
    const inside: string[] = []
    const turn: TestTurn = testTurn([
      roughTool('Read', done),
      roughTool('Reader', async () => {
        inside.push(...idsOf([...turn.executor.getCompletedResults()]))
        return { data: 'read' }
      }),
    ])
    turn.add('a', 'Read')
    turn.add('b', 'Reader')
    expect((await outcomes(turn.executor)).map(({ id }) => id)).toEqual(['b'])
    expect(inside).toEqual(['a'])
  })

  it('A7 waits for its own result: a deadlock that only an abort ends', async () => {
    const taken: string[] = []
    const turn: TestTurn = testTurn([
      roughTool('Knot', async () => {
        for await (const update of turn.executor.getRemainingResults()) if (isResult(update)) taken.push('own')
        return { data: 'never' }
      }),
      roughTool('Read', done),
    ])
    turn.add('a', 'Knot')
    turn.add('b', 'Read')
    await flush()
    expect(taken).toEqual([])
    turn.executor.abort('escape')
    turn.clock.increment(5_000)
    await flush()
    expect(taken).toEqual(['own', 'own'])
    expect(chartValue(turn.executor).gate).toBe('open')
  })

  it('Y2 reports progress of itself while it is being started', async () => {
    const turn = testTurn([
      roughTool('Early', (_input, _context, _canUseTool, _message, onProgress) => {
        onProgress({ data: 'at once' })
        return never()
      }),
    ])
    turn.add('a', 'Early')
    expect([...turn.executor.getCompletedResults()].map(({ message }) => message.type)).toEqual(['progress'])
  })
})

describe('a host that calls its executor from its callbacks', () => {
  it('P6 aborts from inside a permission question: the answer is ignored', async () => {
    const started: string[] = []
    const turn: TestTurn = testTurn([roughTool('Write', async () => void started.push('ran'))], {
      canUseTool: () => {
        turn.executor.abort('escape')
        return { behavior: 'allow' }
      },
    })
    turn.add('a', 'Write')
    expect((await outcomes(turn.executor)).map(({ id, isError }) => [id, isError])).toEqual([['a', true]])
    expect(started).toEqual([])
  })

  it('Q2 adds a call from inside a permission question', async () => {
    const turn: TestTurn = testTurn([roughTool('Write', done)], {
      canUseTool: (_tool, _input, _context, _message, id) => {
        if (id === 'a') turn.add('b', 'Write')
        return { behavior: 'allow' }
      },
    })
    turn.add('a', 'Write')
    expect((await outcomes(turn.executor)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('P11 aborts from inside a warning', async () => {
    const turn: TestTurn = testTurn([roughTool('Odd', async () => 'no data'), roughTool('Write', done)])
    turn.executor.on('warning', () => turn.executor.abort('enough'))
    turn.add('a', 'Odd')
    turn.add('b', 'Write')
    const results = await outcomes(turn.executor)
    expectPaired(
      turn.message,
      results.map(({ id }) => id),
    )
  })

  it('Y8 reads from inside setInProgressToolUseIDs: the set of ids still ends up empty (opencode#40468)', async () => {
    let ids = new Set<string>()
    const taken: string[] = []
    let read = (_: StreamingToolExecutor): void => undefined
    const turn: TestTurn = testTurn([roughTool('Sync', () => ({ data: 'at once' }))], {
      context: {
        setInProgressToolUseIDs: (update) => {
          ids = update(ids)
          read(turn.executor)
        },
      },
    })
    read = (executor) => taken.push(...idsOf([...executor.getCompletedResults()]))
    turn.add('a', 'Sync')
    await flush()
    expect(taken).toEqual(['a'])
    expect(ids).toEqual(new Set())
  })

  it('Y8 aborts from inside setHasInterruptibleToolInProgress: one result, and both indicators are cleared', async () => {
    const values: boolean[] = []
    const turn: TestTurn = testTurn([roughTool('Fetch', never, { interruptBehavior: () => 'cancel' })], {
      abortGraceMs: 10,
      context: {
        setHasInterruptibleToolInProgress: (value) => {
          values.push(value)
          if (value) turn.executor.abort('interrupt')
        },
      },
    })
    turn.add('a', 'Fetch')
    turn.clock.increment(10)
    expect((await outcomes(turn.executor)).map(({ id }) => id)).toEqual(['a'])
    expect(values).toEqual([true, false])
  })
})
