import { describe, expect, it } from 'vitest'
import type { StreamingToolExecutor } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, type TestTurn, testTurn } from '../support/turn.ts'
import { collectWarnings, done, expectNoStrays, idsOf, outcomeOf, outcomes, roughTool, textOf } from './support.ts'

expectNoStrays()

const ways: Record<string, (executor: StreamingToolExecutor) => Promise<unknown>> = {
  'listens for its result': (executor) => new Promise((resolve) => executor.on('completed', resolve)),
  'reads until the end': (executor) => drain(executor),
}

describe.each(Object.entries(ways))('a body that adds an unsafe call to its own executor and %s', (_, wait) => {
  it('§9 Q4 does not hang: the inner call gets an error result, and the outer call continues', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Parent', async () => {
        turn.add('child', 'Child')
        await wait(turn.executor)
        return { data: 'parent' }
      }),
      roughTool('Child', done),
    ])
    const warnings = collectWarnings(turn.executor)
    turn.add('parent', 'Parent')
    const [parent, child] = await outcomes(turn.executor)
    expect(parent).toMatchObject({ id: 'parent', isError: false })
    expect(child).toMatchObject({ id: 'child', isError: true })
    expect(textOf(child as never)).toContain('can only start after that call ends')
    expect(warnings.of('waits_for_itself')).toHaveLength(1)
  })
})

describe.each(Object.entries(ways))('a tracked body that pauses, adds an unsafe call and %s', (_, wait) => {
  const start = (steps: (turn: TestTurn) => Promise<unknown>, isConcurrencySafe = () => false) => {
    const turn: TestTurn = testTurn(
      [
        roughTool(
          'Parent',
          async () => {
            await Promise.resolve()
            await steps(turn)
            return { data: 'parent' }
          },
          { isConcurrencySafe },
        ),
        roughTool('Child', done, { isConcurrencySafe: ({ safe }: { safe?: boolean }) => safe === true }),
      ],
      { trackBodies: true, maxConcurrency: 1 },
    )
    const warnings = collectWarnings(turn.executor)
    turn.add('parent', 'Parent')
    return { ...turn, warnings }
  }

  const expectAnswered = async ({ executor, warnings }: ReturnType<typeof start>) => {
    await flush()
    const [parent, child] = await outcomes(executor)
    expect(parent).toMatchObject({ id: 'parent', isError: false })
    expect(textOf(child as never)).toContain('can only start after that call ends')
    expect(warnings.of('waits_for_itself')).toHaveLength(1)
  }

  it('§9 Q4 does not hang', async () => {
    await expectAnswered(
      start(async ({ add, executor }) => {
        add('child', 'Child')
        await wait(executor)
      }),
    )
  })

  it('§9 Q4 does not hang where it begins to wait later, or adds the call later', async () => {
    await expectAnswered(
      start(async ({ add, executor }) => {
        add('child', 'Child')
        await flush()
        await wait(executor)
      }),
    )
    await expectAnswered(
      start(async ({ add, executor }) => {
        const waiting = wait(executor)
        await flush()
        add('child', 'Child')
        await waiting
      }),
    )
  })

  it('§9 Q4 does not hang where a safe call has no place beside it', async () => {
    await expectAnswered(
      start(
        async ({ add, executor }) => {
          add('child', 'Child', { safe: true })
          await wait(executor)
        },
        () => true,
      ),
    )
  })
})

describe('a tracked body', () => {
  const turnOf = (body: (turn: TestTurn) => Promise<unknown>, options: object = {}): TestTurn => {
    const turn: TestTurn = testTurn(
      [
        roughTool('Parent', async () => ({ data: (await body(turn)) ?? 'parent' }), { isConcurrencySafe: () => true }),
        roughTool('Child', done, { isConcurrencySafe: ({ safe }: { safe?: boolean }) => safe === true }),
      ],
      { trackBodies: true, ...options },
    )
    return turn
  }

  it('Q5 §9 that waits for a safe call behind an unsafe one, which waits for the body, does not hang', async () => {
    const turn = turnOf(async ({ add, executor }) => {
      await flush()
      add('child', 'Child', { safe: true })
      await drain(executor)
    })
    turn.add('parent', 'Parent')
    turn.add('unsafe', 'Child')
    const [parent, unsafe, child] = await outcomes(turn.executor)
    expect([parent?.isError, unsafe?.isError, child?.isError]).toEqual([false, false, true])
  })

  it('Q4 that waits for a safe call, which has no place until another call ends: the call runs then', async () => {
    const other = heldTool('Other', { safe: true })
    const turn: TestTurn = testTurn(
      [
        other.tool,
        roughTool(
          'Parent',
          async () => {
            await flush()
            turn.add('child', 'Child')
            await new Promise<void>((resolve) => {
              turn.executor.on('completed', ({ toolUseID }) => toolUseID === 'child' && resolve())
            })
            return { data: 'parent' }
          },
          { isConcurrencySafe: () => true },
        ),
        roughTool('Child', done, { isConcurrencySafe: () => true }),
      ],
      { trackBodies: true, maxConcurrency: 2 },
    )
    turn.add('other', 'Other')
    turn.add('parent', 'Parent')
    await flush()
    await flush()
    other.run('other').finish()
    expect((await drain(turn.executor)).map((update) => outcomeOf(update).isError)).toEqual([false, false, false])
  })

  it('Q4 that does not wait any more when it adds a call: the call runs when the body is over', async () => {
    const turn = turnOf(async ({ add, executor }) => {
      await flush()
      executor.on('completed', () => undefined)()
      executor.on('warning', () => undefined)
      add('child', 'Child')
      await flush()
    })
    turn.add('parent', 'Parent')
    expect((await drain(turn.executor)).map((update) => outcomeOf(update).isError)).toEqual([false, false])
  })

  it('Q4 whose reader got what it asked for does not wait', async () => {
    const first = heldTool('First', { safe: true })
    const turn: TestTurn = testTurn(
      [
        first.tool,
        roughTool(
          'Parent',
          async () => {
            await flush()
            await turn.executor.getRemainingResults().next()
            turn.add('child', 'Child')
            await flush()
            return { data: 'parent' }
          },
          { isConcurrencySafe: () => true },
        ),
        roughTool('Child', done),
      ],
      { trackBodies: true },
    )
    turn.add('first', 'First')
    turn.add('parent', 'Parent')
    await flush()
    await flush()
    first.run('first').finish()
    expect((await drain(turn.executor)).map((update) => outcomeOf(update).isError)).toEqual([false, false])
  })

  it('Q4 a host that adds and reads while it runs is not taken for the body', async () => {
    const turn = turnOf(() => flush().then(() => flush()))
    const warnings = collectWarnings(turn.executor)
    turn.add('parent', 'Parent')
    await Promise.resolve()
    turn.add('child', 'Child')
    expect((await drain(turn.executor)).map((update) => outcomeOf(update).isError)).toEqual([false, false])
    expect(warnings.all).toEqual([])
  })

  it('§9 that waits until the executor is idle does not wait for itself', async () => {
    const turn = turnOf(async ({ executor }) => {
      await flush()
      await executor.whenIdle()
    })
    turn.add('a', 'Parent')
    turn.add('b', 'Parent')
    expect(idsOf(await drain(turn.executor))).toEqual(['a', 'b'])
  })

  it('Q4 of an agent around it that waits is found too', async () => {
    const outer = turnOf(async ({ add, executor }) => {
      const inner = turnOf(async () => {
        await flush()
        add('child', 'Child')
        await drain(executor)
      })
      inner.add('within', 'Parent')
      await drain(inner.executor)
    })
    outer.add('parent', 'Parent')
    const [parent, child] = await outcomes(outer.executor)
    expect([parent?.isError, child?.isError]).toEqual([false, true])
  })

  it('the option is checked', () => {
    expect(() => turnOf(async () => undefined, { trackBodies: 'yes' })).toThrow('trackBodies')
  })
})

describe('a body that adds an unsafe call and does not wait', () => {
  it('Q4 the inner call runs when the body has ended', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Parent', async () => {
        turn.add('child', 'Child')
        return { data: 'parent' }
      }),
      roughTool('Child', done),
    ])
    turn.executor.on('completed', () => undefined)
    turn.add('parent', 'Parent')
    expect(idsOf(await drain(turn.executor))).toEqual(['parent', 'child'])
  })
})
