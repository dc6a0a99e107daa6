import { describe, expect, it } from 'vitest'
import type { HookCallback } from '../../src/index.ts'
import { collectWarnings, expectNoStrays, never, raise } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, stateOf, testTurn } from '../support/turn.ts'
import { hear } from './heard-events.ts'
import { hookTurn, rough, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** Promises that the test resolves, one after the other. */
function gates() {
  const open: ((value: unknown) => void)[] = []
  return {
    wait: <Value>() => new Promise<Value>((resolve) => open.push(resolve as (value: unknown) => void)),
    async pass(value: unknown): Promise<void> {
      expect(open).toHaveLength(1)
      open.splice(0)[0]?.(value)
      await flush()
    },
  }
}

describe('how long each phase took', () => {
  it('P11 every phase is timed, and those over 2 s are slow', async () => {
    const { wait, pass } = gates()
    const held: HookCallback = () => wait()
    const { executor, add, tool, clock } = hookTurn(
      { PreToolUse: [{ hooks: [held] }], PostToolUse: [{ hooks: [held] }] },
      {
        canUseTool: () => wait(),
        resultStore: { save: () => wait() },
        tool: { validateInput: () => wait(), retry: { attempts: 2, backoffMs: 2_001 }, maxResultSizeChars: 5 },
      },
    )
    const heard = hear(executor)
    add('a', 'Tool')
    await flush()
    const passAfter = async (ms: number, value: unknown) => {
      clock.increment(ms)
      await pass(value)
    }
    await passAfter(1, { result: true })
    await passAfter(2_000, {})
    await passAfter(2_001, { behavior: 'allow' })
    clock.increment(300)
    tool.run('a').fail(new Error('once'))
    await flush()
    clock.increment(2_001)
    await flush()
    clock.increment(400)
    tool.run('a').finish({ data: 'a long result' })
    await flush()
    await passAfter(50, {})
    await passAfter(60, '/tmp/result')
    await toldOfOne(executor)
    expect(heard).toMatchObject([
      {
        type: 'tool_use_success',
        durations: {
          validating: 1,
          preHooks: 2_000,
          permission: 2_001,
          calling: 700,
          retrying: 2_001,
          postHooks: 50,
          formatting: 60,
        },
        slowPhases: ['permission', 'retrying'],
      },
    ])
  })

  it('P11 A7 the time to stop does not count as running time', async () => {
    const { executor, add, tool, clock } = hookTurn({})
    const heard = hear(executor)
    add('a', 'Tool')
    clock.increment(100)
    executor.abort('escape')
    clock.increment(3_000)
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toMatchObject([
      { type: 'tool_use_cancelled', durations: { calling: 100, stopping: 3_000 }, slowPhases: ['stopping'] },
    ])
  })

  it('P11 P4 the time of a call that is queued again belongs to no phase', async () => {
    const shell = heldTool('Shell', { isConcurrencySafe: ({ writes }) => writes !== true })
    const { executor, add, clock } = testTurn([shell.tool], {
      canUseTool: (_tool, _input, _context, _message, id) =>
        id === 'b' ? { behavior: 'allow', updatedInput: { writes: true } } : { behavior: 'allow' },
    })
    const heard = hear(executor)
    add('a', 'Shell')
    add('b', 'Shell')
    await flush()
    expect(stateOf(executor, 'b')).toBe('queued')
    clock.increment(9_000)
    shell.run('a').finish()
    await flush()
    clock.increment(5)
    shell.run('b').finish()
    await told(executor)
    expect(heard.find(({ toolUseID }) => toolUseID === 'b')).toMatchObject({
      durations: { permission: 0, calling: 5 },
      slowPhases: [],
    })
  })

  it('P11 a clock that runs backwards, or has no time, gives no negative durations', async () => {
    let now = 1_000
    const { executor, add, tool } = hookTurn(
      {},
      {
        clock: { setTimeout: () => 0, clearTimeout: () => undefined, now: () => now },
      },
    )
    const heard = hear(executor)
    add('a', 'Tool')
    now = 10
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toMatchObject([{ durations: { calling: 0 } }])
  })
})

describe('listeners', () => {
  it('P11 that throw, reject or hang do not affect the turn or other listeners', async () => {
    const { executor, add, tool } = hookTurn({})
    const warnings = collectWarnings(executor)
    executor.on('tool_use_success', () => raise(new Error('listener')))
    executor.on('tool_use_success', () => Promise.reject(new Error('listener')))
    executor.on('tool_use_success', () => never())
    const heard = hear(executor)
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result.isError).toBe(false)
    expect(heard).toHaveLength(1)
    expect(warnings.all).toEqual([])
  })

  it('P11 that were removed get no more events', async () => {
    const { executor, add, tool } = hookTurn({})
    const heard: unknown[] = []
    const stop = executor.on('tool_use_success', (event) => void heard.push(event))
    add('a', 'Tool')
    stop()
    stop()
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toEqual([])
  })

  it('P11 that are added during a call get its end', async () => {
    const { executor, add, tool, clock } = hookTurn({})
    add('a', 'Tool')
    clock.increment(100)
    const heard = hear(executor)
    tool.run('a').finish()
    await toldOfOne(executor)
    expect(heard).toMatchObject([{ type: 'tool_use_success', attempts: 1 }])
  })

  it('P11 Y6 that call the executor: an abort from a listener causes no missing result', async () => {
    const { executor, add, tool } = hookTurn({})
    executor.on('tool_use_success', () => executor.abort('enough'))
    executor.on('tool_use_cancelled', () => [...executor.getCompletedResults()].length)
    add('a', 'Tool')
    add('b', 'Tool')
    tool.run('a').finish()
    await flush()
    expect(tool.started).toEqual(['a'])
    expect(stateOf(executor, 'b')).toBe('yielded')
  })

  it('P11 one final event per call, for every outcome', async () => {
    const ends = heldTool('Ends', { safe: true, obedient: true })
    const { executor, add } = testTurn([ends.tool], {
      canUseTool: (_tool, { isDenied }) =>
        isDenied === true ? { behavior: 'deny', message: 'no' } : { behavior: 'allow' },
    })
    const heard = hear(executor)
    add('succeeds', 'Ends')
    add('fails', 'Ends')
    add('denied', 'Ends', { isDenied: true })
    add('unknown', 'Nobody')
    add('aborted', 'Ends')
    await flush()
    ends.run('succeeds').finish()
    ends.run('fails').fail(new Error('x'))
    await flush()
    executor.abort('escape')
    executor.abort('again')
    add('late', 'Ends')
    await told(executor)
    executor.discard()
    await flush()
    const words = heard.map(({ type, toolUseID }) => [toolUseID, type.replace('tool_use_', '')])
    expect(Object.fromEntries(words)).toEqual({
      succeeds: 'success',
      fails: 'error',
      denied: 'rejected',
      unknown: 'error',
      aborted: 'cancelled',
      late: 'cancelled',
    })
    expect(words).toHaveLength(6)
  })

  it('P11 without listeners nothing changes', async () => {
    const { executor, add, tool } = hookTurn({ PostToolUse: [{ hooks: [rough(() => 5)] }] })
    add('a', 'Tool')
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result.isError).toBe(false)
  })
})
