import { describe, expect, it } from 'vitest'
import { flush, simulatedClock } from '../../src/testing/index.ts'

describe('the simulated clock', () => {
  it('runs due timers in order of time, then of creation, including new ones', () => {
    const clock = simulatedClock()
    const ran: string[] = []
    const note = (what: string) => () => void ran.push(`${what} at ${clock.now()}`)
    clock.setTimeout(note('late'), 20)
    clock.setTimeout(() => {
      note('early')()
      clock.setTimeout(note('between'), 5)
    }, 10)
    clock.setTimeout(note('also late'), 20)
    const gone = clock.setTimeout(note('never'), 15)
    clock.clearTimeout(gone)
    expect([clock.pending, clock.nextDueIn, clock.dueIn]).toEqual([3, 10, [10, 20, 20]])
    clock.increment(9)
    expect(ran).toEqual([])
    clock.increment(11)
    expect(ran).toEqual(['early at 10', 'between at 15', 'late at 20', 'also late at 20'])
    expect([clock.now(), clock.pending, clock.nextDueIn]).toEqual([20, 0, undefined])
  })

  it('flush() waits for promises in promises', async () => {
    let depth = 0
    const dig = async (): Promise<void> => {
      if (++depth < 100) await dig()
      await Promise.resolve()
      depth++
    }
    void dig()
    await flush()
    expect(depth).toBe(200)
  })
})
