import { describe, expect, it } from 'vitest'
import { isSameKeys } from '../../machines/index.ts'
import type { ExecutorWarning, HookCallback, PermissionAnswer, Resources, ToolUseContext } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, flush, takeReady, testTurn } from '../support/turn.ts'

/** A tool whose calls name the resources that their input says. */
const keyed = (more: Parameters<typeof heldTool>[1] = {}) =>
  heldTool('Keyed', { resources: ({ reads, writes }) => ({ reads, writes }) as Resources, ...more })

const why = (executor: ReturnType<typeof testTurn>['executor'], id: string) => {
  const admission = executor.explain(id)
  if (admission === undefined || admission.ok) return undefined
  const { ok: _ok, ...reason } = admission
  return reason
}

describe('resources', () => {
  it('K2 K3 calls that do not conflict run in parallel, those that do take turns in the order asked', async () => {
    const { tool, started, run } = keyed()
    const { add } = testTurn([tool])
    add('a', 'Keyed', { writes: ['file:/x'] })
    add('b', 'Keyed', { writes: ['file:/y'] })
    add('c', 'Keyed', { reads: ['file:/x'] })
    add('d', 'Keyed', { writes: ['file:/x'] })
    add('e', 'Keyed', { reads: ['file:/z'] })
    expect(started).toEqual(['a', 'b', 'e'])
    run('a').finish()
    await flush()
    expect(started).toEqual(['a', 'b', 'e', 'c'])
    run('c').finish()
    await flush()
    expect(started).toEqual(['a', 'b', 'e', 'c', 'd'])
  })

  it('K3 Y1 results leave in the order asked, whoever overtakes', async () => {
    const { tool, run } = keyed()
    const { add, executor } = testTurn([tool])
    add('a', 'Keyed', { writes: ['file:/x'] })
    add('b', 'Keyed', { writes: ['file:/x'] })
    add('c', 'Keyed', { writes: ['file:/y'] })
    run('c').finish()
    await flush()
    expect(takeReady(executor)).toEqual([])
    run('a').finish()
    await flush()
    run('b').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b', 'c'])
  })

  it.each([
    [['file:/a/'], ['file:/a/b'], true],
    [['file:/a/b'], ['file:/a/'], true],
    [['file:/a/'], ['file:/a/'], true],
    [['file:/a'], ['file:/a/'], false],
    [['file:/a/'], ['file:/ab'], false],
    [['file:/a/'], ['url:/a/b'], false],
    [['*'], [], true],
    [[], ['*'], true],
    [['file:/a'], [], false],
  ])('K2 writes %j beside writes %j conflict: %j', (first, second, conflicts) => {
    const { tool, started } = keyed()
    const { add } = testTurn([tool])
    add('a', 'Keyed', { writes: first })
    add('b', 'Keyed', { writes: second })
    expect(started).toEqual(conflicts ? ['a'] : ['a', 'b'])
  })

  it('K1 K7 without resources, a safe call reads everything and an unsafe call writes everything', async () => {
    const { tool, started, run } = keyed()
    const safe = heldTool('Safe', { safe: true })
    const unsafe = heldTool('Unsafe')
    const { add, executor } = testTurn([tool, safe.tool, unsafe.tool])
    add('a', 'Keyed', { reads: ['file:/x'] })
    add('b', 'Safe')
    add('c', 'Keyed', { writes: ['file:/x'] })
    add('d', 'Unsafe')
    add('e', 'Keyed', {})
    expect([started, safe.started, unsafe.started]).toEqual([['a'], ['b'], []])
    expect(why(executor, 'c')).toEqual({ because: 'resource', blockers: ['a', 'b'], key: 'file:/x' })
    expect(why(executor, 'd')).toEqual({ because: 'waitsForRunning', blockers: ['a', 'b'] })
    expect(why(executor, 'e')).toEqual({ because: 'behindUnsafe', blockers: ['d'] })
    run('a').finish()
    safe.run('b').finish()
    await flush()
    run('c').finish()
    await flush()
    expect([unsafe.started, chartValue(executor).gate]).toEqual([['d'], 'exclusive'])
    expect(why(executor, 'e')).toEqual({ because: 'exclusiveRunning', blockers: ['d'] })
  })

  it.each([
    ['throws', () => Promise.reject(new Error('no idea')) as never],
    [
      'throws at once',
      () => {
        throw new Error('no idea')
      },
    ],
    ['returns no object', () => 'file:/x' as never],
    ['returns a key without a scheme', () => ({ writes: ['/x'] })],
    ['returns something else than a list', () => ({ reads: 'file:/x' }) as never],
    ['misspells a property', () => ({ wirtes: ['file:/x'] }) as never],
    ['returns too many keys', () => ({ reads: Array.from({ length: 1_001 }, (_, n) => `n:${n}`) })],
  ] as const)('K1 a tool that %s runs alone, with a warning', (_, resources) => {
    const odd = heldTool('Odd', { safe: true, resources: resources as () => Resources })
    const { tool, started } = keyed()
    const { add, executor } = testTurn([odd.tool, tool])
    const warnings: ExecutorWarning[] = []
    executor.on('warning', (warning) => warnings.push(warning))
    add('a', 'Odd')
    add('b', 'Keyed', { reads: ['file:/y'] })
    expect([odd.started, started, chartValue(executor).gate]).toEqual([['a'], [], 'exclusive'])
    expect(warnings).toMatchObject([{ code: 'resources_failed', toolUseID: 'a' }])
  })

  it('K1 resources are asked for again if the context has changed before the call starts', async () => {
    const asked: unknown[] = []
    const inFolder = heldTool('InFolder', {
      resources: (_, context: ToolUseContext) => {
        asked.push(context.cwd)
        return { writes: [`file:${context.cwd}/x`] }
      },
    })
    const move = heldTool('Move')
    const { add } = testTurn([inFolder.tool, move.tool], { context: { cwd: '/a' } })
    add('m', 'Move')
    add('a', 'InFolder')
    move.run('m').finish({ contextModifier: (context) => ({ ...context, cwd: '/b' }) })
    await flush()
    expect([asked, inFolder.started]).toEqual([['/a', '/b'], ['a']])
  })

  it('K3 a held call keeps only what it may write', () => {
    const { tool, started } = keyed()
    const { add, executor } = testTurn([tool])
    add('a', 'Keyed', { reads: ['file:/x'], writes: ['file:/y'] }, { hold: true })
    add('b', 'Keyed', { writes: ['file:/x'] })
    add('c', 'Keyed', { reads: ['file:/y'] })
    expect(started).toEqual(['b'])
    expect(why(executor, 'c')).toEqual({ because: 'resource', blockers: ['a'], key: 'file:/y' })
    executor.release('a')
    expect(why(executor, 'a')).toEqual({ because: 'resource', blockers: ['b'], key: 'file:/x' })
  })

  it('K4 an input that is changed to the resource of another call goes back to the queue', async () => {
    const { tool, started, run } = keyed()
    const { add, executor } = testTurn([tool], {
      canUseTool: (_tool, input) => ({
        behavior: 'allow',
        ...(input.moves === true && { updatedInput: { writes: ['file:/x'] } }),
      }),
    })
    add('a', 'Keyed', { writes: ['file:/x'] })
    add('b', 'Keyed', { writes: ['file:/y'], moves: true })
    await flush()
    expect([started, why(executor, 'b')]).toEqual([['a'], { because: 'resource', blockers: ['a'], key: 'file:/x' }])
    run('a').finish()
    await flush()
    expect([started, run('b').input]).toEqual([['a', 'b'], { writes: ['file:/x'] }])
  })

  it.each([
    ['a hook', 'hook'],
    ['the host', 'host'],
    ['normalizeInput', 'tool'],
  ] as const)('K4 an input that %s changes to free resources goes on where it is', async (_, by) => {
    const moved = (input: Record<string, unknown>) =>
      input.moves === true ? { writes: ['file:/z', 'file:/own'] } : input
    const hook: HookCallback = async ({ tool_input }) => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: moved(tool_input as Record<string, unknown>) },
    })
    const { tool, started } = keyed(by === 'tool' ? { normalizeInput: (input: object) => moved({ ...input }) } : {})
    const { add, executor } = testTurn([tool], {
      ...(by === 'hook' && { context: { hooks: { PreToolUse: [{ hooks: [hook] }] } } }),
      canUseTool: (_tool, input) => ({ behavior: 'allow', ...(by === 'host' && { updatedInput: moved(input) }) }),
    })
    const told: string[] = []
    executor.actor.system.inspect((each) => {
      if (each.type === '@xstate.event' && each.actorRef === executor.actor) told.push(each.event.type)
    })
    add('a', 'Keyed', { writes: ['file:/x'] })
    // a key that it keeps is not in its way
    add('b', 'Keyed', { writes: ['file:/y', 'file:/own'], moves: true })
    add('c', 'Keyed', { reads: ['file:/y'] })
    await flush()
    add('d', 'Keyed', { reads: ['file:/z'] })
    await flush()
    expect(started).toEqual(['a', 'b', 'c'])
    expect(told.filter((type) => type === 'call.requeued' || type === 'call.rekeyed')).toEqual(['call.rekeyed'])
    expect(why(executor, 'd')).toEqual({ because: 'resource', blockers: ['b'], key: 'file:/z' })
  })

  it('K4 a call with other resources waits behind an earlier call that waits for one of them', async () => {
    const { tool, started, run } = keyed()
    const answers: ((answer: PermissionAnswer) => void)[] = []
    const { add, executor } = testTurn([tool], {
      canUseTool: (_tool, input) =>
        input.asks === true ? new Promise((resolve) => answers.push(resolve)) : { behavior: 'allow' },
    })
    add('a', 'Keyed', { writes: ['file:/x'] })
    add('b', 'Keyed', { writes: ['file:/x', 'file:/y'] })
    add('c', 'Keyed', { writes: ['file:/z'], asks: true })
    await flush()
    answers[0]?.({ behavior: 'allow', updatedInput: { writes: ['file:/y'] } })
    await flush()
    expect([started, why(executor, 'c')?.blockers]).toEqual([['a'], ['b']])
    run('a').finish()
    await flush()
    run('b').finish()
    await flush()
    expect(started).toEqual(['a', 'b', 'c'])
  })

  it('K4 K7 a call that comes to write everything goes through the queue, so that the gate says so', async () => {
    const { tool, started } = keyed()
    const { add, executor } = testTurn([tool], {
      canUseTool: (_tool, input) => ({
        behavior: 'allow',
        ...(input.moves === true && { updatedInput: { writes: ['*'] } }),
      }),
    })
    add('a', 'Keyed', { writes: ['file:/x'], moves: true })
    add('b', 'Keyed', {})
    await flush()
    expect([started, chartValue(executor).gate]).toEqual([['a'], 'exclusive'])
    expect(why(executor, 'b')?.because).toBe('exclusiveRunning')
  })

  it('K4 an input that is changed to fewer resources no longer holds the others', async () => {
    const { tool, started } = keyed()
    const { add } = testTurn([tool], {
      canUseTool: (_tool, input) => ({
        behavior: 'allow',
        ...(input.moves === true && { updatedInput: { reads: [], writes: ['file:/x'] } }),
      }),
    })
    add('a', 'Keyed', { reads: ['file:/z'], writes: ['file:/x', 'file:/y'], moves: true })
    add('b', 'Keyed', { writes: ['file:/y'] })
    await flush()
    expect(started).toEqual(['a', 'b'])
  })

  it.each([
    [['file:/x', 'file:/y'], ['file:/y', 'file:/x'], true],
    [[], [], true],
    [['file:/x', 'file:/y'], ['file:/x'], false],
    [['file:/x'], ['file:/x', 'file:/y'], false],
    [['file:/x'], ['file:/y'], false],
  ])('K4 whether the keys %j and %j are the same: %j', (one, other, expected) => {
    expect(isSameKeys({ reads: one, writes: [] }, { reads: other, writes: [] })).toBe(expected)
    expect(isSameKeys({ reads: [], writes: one }, { reads: [], writes: other })).toBe(expected)
  })

  it('K5 a call that waits for a person holds its resources and no place', async () => {
    const { tool, started } = keyed()
    const { add, executor } = testTurn([tool], {
      maxConcurrency: 1,
      canUseTool: (_tool, input) => (input.asks === true ? new Promise(() => undefined) : { behavior: 'allow' }),
    })
    add('a', 'Keyed', { writes: ['file:/x'], asks: true })
    await flush()
    add('b', 'Keyed', { reads: ['file:/x'] })
    add('c', 'Keyed', { reads: ['file:/y'] })
    await flush()
    expect([started, why(executor, 'b')?.because]).toEqual([['c'], 'resource'])
    executor.abort('escape')
  })

  it('K3 Y7 a call that writes everything sees the modifiers of all calls before it, others those before the last such call', async () => {
    const { tool, run } = keyed()
    const { add } = testTurn([tool], { context: { marks: '' } })
    const mark = (own: string) => ({
      contextModifier: (context: ToolUseContext) => ({ ...context, marks: `${context.marks}${own}` }),
    })
    add('a', 'Keyed', { writes: ['file:/x'] })
    add('b', 'Keyed', { writes: ['file:/x'] })
    add('c', 'Keyed', { writes: ['*'] })
    add('d', 'Keyed', { reads: ['file:/y'] })
    for (const id of ['a', 'b', 'c', 'd']) {
      run(id).finish(mark(id))
      await flush()
    }
    expect(['a', 'b', 'c', 'd'].map((id) => run(id).context.marks)).toEqual(['', '', 'ab', 'abc'])
  })

  const playTenThousand = async (keyFor: (n: number) => string, together: number) => {
    const { tool, started, run } = keyed()
    const { add, executor } = testTurn([tool], { maxConcurrency: 10_000 })
    for (let n = 0; n < 10_000; n++) add(`c${n}`, 'Keyed', { writes: [keyFor(n)] })
    expect(started).toHaveLength(together)
    for (let n = 0; n < 10_000; n++) {
      run(`c${n}`).finish()
      if (together === 1) await flush()
    }
    await flush()
    expect(takeReady(executor)).toHaveLength(10_000)
  }

  it('K9 ten thousand calls with ten thousand keys all run at once', () =>
    playTenThousand((n) => `file:/folder/${n}`, 10_000))

  it('K9 ten thousand calls with one key run one after the other', () => playTenThousand(() => 'file:/folder/x', 1))

  it.each([
    ['with keys', true, 100],
    ['without', false, 500],
  ])('K3 K9 five writes of 100 ms to different files, %s, take %3$s ms', async (_, hasKeys, expected) => {
    const { tool } = keyed()
    const { resources: _resources, ...plain } = tool
    const turn = testTurn([
      {
        ...(hasKeys ? tool : plain),
        call: () => new Promise((resolve) => turn.clock.setTimeout(() => resolve({ data: 'written' }), 100)),
      },
    ])
    for (let n = 0; n < 5; n++) turn.add(`w${n}`, 'Keyed', { writes: [`file:/${n}`] })
    for (let results = 0; results < 5; ) {
      turn.clock.increment(turn.clock.nextDueIn ?? 0)
      await flush()
      results += takeReady(turn.executor).length
    }
    expect(turn.clock.now()).toBe(expected)
  })
})
