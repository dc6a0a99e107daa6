import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import type { Clock } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, stateOf, testTurn } from '../support/turn.ts'
import { collectWarnings, expectNoStrays, never, onlyOutcome, outcomes, roughTool, textOf } from './support.ts'

expectNoStrays()

describe('timeouts', () => {
  it('P7 total: the signal aborts, and the result contains the limit', async () => {
    const fetch = heldTool('Fetch', { timeout: 1_000, obedient: true })
    const { executor, add, clock } = testTurn([fetch.tool])
    add('a', 'Fetch')
    clock.increment(999)
    expect(fetch.run('a').context.abortController.signal.aborted).toBe(false)
    clock.increment(1)
    expect(fetch.run('a').context.abortController.signal.aborted).toBe(true)
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^<tool_use_error>.*1000 ms.*<\/tool_use_error>$/)
  })

  it('P7 total: progress does not extend it', async () => {
    const fetch = heldTool('Fetch', { timeout: { totalMs: 1_000 }, obedient: true })
    const { executor, add, clock } = testTurn([fetch.tool])
    add('a', 'Fetch')
    clock.increment(900)
    fetch.run('a').progress('still here')
    clock.increment(100)
    expect(textOf(await onlyOutcome(executor))).toContain('1000 ms')
  })

  it('P7 idle: each progress restarts it, silence ends the call', async () => {
    const fetch = heldTool('Fetch', { timeout: { idleMs: 1_000 }, obedient: true })
    const { executor, add, clock } = testTurn([fetch.tool])
    add('a', 'Fetch')
    for (let step = 0; step < 5; step++) {
      clock.increment(900)
      fetch.run('a').progress(step)
    }
    expect(stateOf(executor, 'a')).toBe('executing')
    expect(await outcomes(executor)).toEqual([])
    clock.increment(1_000)
    expect(textOf(await onlyOutcome(executor))).toMatch(/no progress for 1000 ms/)
  })

  it('P7 idle: a yield of a generator counts as progress', async () => {
    const steps: (() => void)[] = []
    const signals: AbortSignal[] = []
    const fetch = roughTool(
      'Fetch',
      async function* (_, { abortController }) {
        signals.push(abortController.signal)
        for (;;) {
          await new Promise<void>((resolve) => steps.push(resolve))
          yield { type: 'progress', data: 'line' }
        }
      },
      { timeout: { idleMs: 1_000 } },
    )
    const { executor, add, clock } = testTurn([fetch])
    add('a', 'Fetch')
    await flush()
    clock.increment(900)
    steps.shift()?.()
    await flush()
    clock.increment(900)
    expect(signals[0]?.aborted).toBe(false)
    clock.increment(100)
    expect(signals[0]?.aborted).toBe(true)
    clock.increment(5_000)
    expect(textOf(await onlyOutcome(executor))).toMatch(/no progress for 1000 ms/)
  })

  it('P7 A7 a body that ignores its timeout has the same grace period, then is abandoned and reported', async () => {
    const { executor, add, clock } = testTurn([roughTool('Fetch', never, { timeout: 1_000 })], { abortGraceMs: 50 })
    const warnings = collectWarnings(executor)
    add('a', 'Fetch')
    clock.increment(1_000)
    clock.increment(49)
    expect(await outcomes(executor)).toEqual([])
    clock.increment(1)
    expect(textOf(await onlyOutcome(executor))).toContain('1000 ms')
    expect(warnings.of('abandoned')).toHaveLength(1)
  })

  it.each([
    ['had finished: its effects stand', false, /finished.*effects remain/],
    ['was cut short', true, /stopped before it finished/],
    ['nothing of it', undefined, /may have done all or part of its work/],
  ])('P7 W8 a body that returns within its grace period still timed out; the result says %s and keeps the output', async (_, interrupted, told) => {
    const write = heldTool('Write', { timeout: 1_000 })
    const { executor, add, clock } = testTurn([write.tool])
    add('a', 'Write')
    clock.increment(1_000)
    write.run('a').finish({ data: 'line 1', interrupted })
    const result = await onlyOutcome(executor)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(told)
    expect(textOf(result)).toContain('Its output so far:\nline 1')
  })

  it.each([
    ['in its grace', 0],
    ['after its grace', 5_000],
  ])('P8 a body that rejects %s after its timeout: one result, no unhandled rejection', async (_, waited) => {
    const write = heldTool('Write', { timeout: 1_000 })
    const { executor, add, clock } = testTurn([write.tool])
    add('a', 'Write')
    clock.increment(1_000)
    clock.increment(waited)
    write.run('a').fail(new Error('socket closed'))
    expect(textOf(await onlyOutcome(executor))).toContain('1000 ms')
    expect(await outcomes(executor)).toEqual([])
  })

  it('A2 P7 a timeout is an error of the call and may cancel its siblings', async () => {
    const bash = heldTool('Bash', { timeout: 1_000, cancelsSiblingsOnError: true, obedient: true })
    const { executor, add, clock } = testTurn([bash.tool])
    add('a', 'Bash', { command: 'npm test' })
    add('b', 'Bash')
    clock.increment(1_000)
    const [own, sibling] = await outcomes(executor)
    expect(own?.content).toContain('1000 ms')
    expect(sibling?.content).toBe(
      '<tool_use_error>Cancelled: parallel tool call Bash(npm test) errored</tool_use_error>',
    )
  })

  it('A4 an abort during the grace period of a timeout: one result, the rejection', async () => {
    const write = heldTool('Write', { timeout: 1_000 })
    const { executor, add, clock } = testTurn([write.tool])
    add('a', 'Write')
    clock.increment(1_000)
    executor.abort('escape')
    clock.increment(5_000)
    expect((await onlyOutcome(executor)).toolUseResult).toBe('User rejected tool use')
  })

  it.each([
    ['Infinity', Number.POSITIVE_INFINITY],
    ['more than a timer holds', 2 ** 40],
  ])('P7 a timeout of %s does not end a call at once', async (_, timeout) => {
    const { executor, add, clock } = testTurn([roughTool('Fetch', never, { timeout })])
    add('a', 'Fetch')
    clock.increment(1)
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
  })

  it.each([
    ['NaN', Number.NaN],
    ['null', null],
    ['a string', 'soon'],
  ])('P7 a timeout of %s is rejected with the name of its tool', (_, timeout) => {
    expect(() => testTurn([roughTool('Fetch', never, { timeout })])).toThrow(/\(Fetch\): timeout: expected/)
  })

  it('P7 P6 the time of a permission question is not counted', async () => {
    let allow = (): void => undefined
    const write = heldTool('Write', { timeout: 1_000 })
    const { executor, add, clock } = testTurn([write.tool], {
      canUseTool: () => new Promise((resolve) => (allow = () => resolve({ behavior: 'allow' }))),
    })
    add('a', 'Write')
    clock.increment(1_000_000)
    allow()
    await flush()
    write.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ isError: false })
  })

  it('P7 no timer remains, however a call ended', async () => {
    const simulated = new SimulatedClock()
    const running = new Set<unknown>()
    const clock: Clock = {
      setTimeout(fn, ms) {
        const id = simulated.setTimeout(() => {
          running.delete(id)
          fn()
        }, ms)
        running.add(id)
        return id
      },
      clearTimeout(id) {
        running.delete(id)
        simulated.clearTimeout(id as number)
      },
    }
    const fetch = heldTool('Fetch', { safe: true, timeout: { totalMs: 60_000, idleMs: 30_000 } })
    const { executor, add } = testTurn([fetch.tool], { clock })
    for (const id of ['finished', 'failed', 'settles late', 'ignores']) add(id, 'Fetch')
    fetch.run('finished').progress(1)
    fetch.run('finished').finish()
    fetch.run('failed').fail(new Error('no'))
    await flush()
    executor.abort('escape')
    fetch.run('settles late').finish()
    await flush()
    expect(running.size).toBeGreaterThan(0)
    simulated.increment(5_000)
    expect(await outcomes(executor)).toHaveLength(4)
    expect(running.size).toBe(0)
  })
})
