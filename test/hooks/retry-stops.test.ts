import { describe, expect, it } from 'vitest'
import type { Tool } from '../../src/index.ts'
import { collectWarnings, expectNoStrays, textOf } from '../cases/support.ts'
import { flush, stateOf } from '../support/turn.ts'
import { hookTurn, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

/** A clock that the test moves and that lists its timers. */
function countingClock() {
  const timers = new Map<number, { at: number; run: () => void }>()
  let now = 0
  let next = 0
  return {
    timers,
    setTimeout: (run: () => void, ms: number) => {
      timers.set(++next, { at: now + ms, run })
      return next
    },
    clearTimeout: (id: unknown) => void timers.delete(id as number),
    now: () => now,
    async increment(ms: number): Promise<void> {
      const end = now + ms
      for (;;) {
        const [due] = [...timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)
        if (due === undefined) break
        now = due[1].at
        timers.delete(due[0])
        due[1].run()
        await flush()
      }
      now = end
      await flush()
    },
  }
}

/** A call that has failed once and waits a second for its retry. */
async function inBackoff(toolOptions: Partial<Tool> & { cancel?: boolean } = {}) {
  const clock = countingClock()
  const turn = hookTurn({}, { clock, tool: { retry: { attempts: 3, backoffMs: 1_000 }, ...toolOptions } })
  turn.add('a', 'Tool')
  turn.tool.run('a').fail(new Error('once'))
  await flush()
  expect(clock.timers.size).toBeGreaterThan(0)
  return { ...turn, clock }
}

describe('a call that waits for a retry', () => {
  it('A4 Y6 aborted: one result at once, no further attempt, no timer left', async () => {
    const { executor, tool, clock } = await inBackoff({ timeout: 60_000 })
    const { signal } = tool.run('a').context.abortController
    executor.abort('escape')
    expect((await toldOfOne(executor)).result).toMatchObject({ isError: true, toolUseResult: 'User rejected tool use' })
    expect(signal.reason).toBe('escape')
    expect(clock.timers.size).toBe(0)
    await clock.increment(100_000)
    expect(tool.started).toHaveLength(1)
  })

  it('A3 interrupted, with cancel behaviour: the same', async () => {
    const { executor, tool, clock } = await inBackoff({ cancel: true })
    executor.abort('interrupt')
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    await clock.increment(100_000)
    expect(tool.started).toHaveLength(1)
    expect(clock.timers.size).toBe(0)
  })

  it('A3 interrupted, with block behaviour: it is retried', async () => {
    const { executor, tool, clock } = await inBackoff()
    executor.abort('interrupt')
    await clock.increment(1_000)
    expect(tool.started).toHaveLength(2)
    tool.run('a').finish()
    expect((await toldOfOne(executor)).result.isError).toBe(false)
  })

  it('A5 discarded: no result, no retry, no timer left', async () => {
    const { executor, tool, clock } = await inBackoff({ timeout: 60_000 })
    expect(executor.discard()).toEqual([{ id: 'a', name: 'Tool', started: true, completed: false }])
    await clock.increment(100_000)
    expect((await told(executor)).order).toEqual([])
    expect(tool.started).toHaveLength(1)
    expect(clock.timers.size).toBe(0)
  })

  it('A6 aborted from inside, by its own controller: the turn ends', async () => {
    const { executor, tool, host } = await inBackoff()
    tool.run('a').context.abortController.abort('by itself')
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(host.signal.reason).toBe('by itself')
  })

  it('P7 its total timeout continues, and ends the call', async () => {
    const { executor, tool, clock } = await inBackoff({ timeout: 600 })
    await clock.increment(599)
    expect(stateOf(executor, 'a')).toBe('executing')
    await clock.increment(1)
    const { result } = await toldOfOne(executor)
    expect(textOf(result)).toMatch(/Timeout.*600 ms/)
    await clock.increment(100_000)
    expect(tool.started).toHaveLength(1)
    expect(clock.timers.size).toBe(0)
  })

  it('P7 its idle timeout does not continue', async () => {
    const { executor, tool, clock } = await inBackoff({ timeout: { idleMs: 300 } })
    await clock.increment(1_000)
    expect(tool.started).toHaveLength(2)
    await clock.increment(299)
    expect(tool.run('a').context.abortController.signal.aborted).toBe(false)
    await clock.increment(1)
    expect(tool.run('a').context.abortController.signal.reason).toBe('timeout')
    await clock.increment(5_000)
    expect(textOf((await toldOfOne(executor)).result)).toMatch(/no progress for 300 ms/)
  })
})

describe('timeouts over several attempts', () => {
  it('P7 the total spans all of them', async () => {
    const { executor, tool, clock } = await inBackoff({ timeout: 1_500 })
    await clock.increment(1_000)
    expect(tool.started).toHaveLength(2)
    await clock.increment(499)
    expect(tool.run('a').context.abortController.signal.aborted).toBe(false)
    await clock.increment(1)
    expect(tool.run('a').context.abortController.signal.reason).toBe('timeout')
    tool.run('a').fail(new Error('stopped'))
    expect(textOf((await toldOfOne(executor)).result)).toMatch(/Timeout.*1500 ms/)
  })

  it('P7 a call that timed out is not retried', async () => {
    const clock = countingClock()
    const { executor, add, tool } = hookTurn({}, { clock, tool: { timeout: 100, retry: { attempts: 3 } } })
    add('a', 'Tool')
    await clock.increment(100)
    tool.run('a').fail(new Error('stopped'))
    expect(textOf((await toldOfOne(executor)).result)).toContain('Timeout')
    await clock.increment(10_000)
    expect(tool.started).toHaveLength(1)
  })

  it('A7 an attempt that ignores its abort is abandoned and not retried', async () => {
    const { executor, tool, clock } = await inBackoff()
    const warnings = collectWarnings(executor)
    await clock.increment(1_000)
    executor.abort('escape')
    await clock.increment(5_000)
    expect((await toldOfOne(executor)).result.isError).toBe(true)
    expect(warnings.of('abandoned')).toHaveLength(1)
    tool.run('a').fail(new Error('at last'))
    await clock.increment(100_000)
    expect(tool.started).toHaveLength(2)
    expect(warnings.of('late')).toHaveLength(1)
    expect(clock.timers.size).toBe(0)
  })

  it('A4 A7 an attempt that fails after the abort is not retried', async () => {
    const { executor, tool, clock } = await inBackoff()
    await clock.increment(1_000)
    executor.abort('escape')
    tool.run('a').fail(new Error('stopped'))
    expect((await toldOfOne(executor)).result.toolUseResult).toBe('User rejected tool use')
    await clock.increment(100_000)
    expect(tool.started).toHaveLength(2)
  })
})
