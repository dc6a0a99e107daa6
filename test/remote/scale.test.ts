import { describe, expect, it } from 'vitest'

interface Fleet {
  readonly workers: number
  readonly rate: number
  readonly bodyMs: number
}
type Simulate = (
  fleet: Fleet,
  costs: { callUs: number; runningUs: number; restUs: number; seconds: number; seed?: number },
) => { load: number; p50: number; p99: number; mostWaiting: number }

const module = new URL('../../bench/scale.mjs', import.meta.url).href
const { simulate } = (await import(module)) as { simulate: Simulate }
const costs = { callUs: 200, runningUs: 40, restUs: 50, seconds: 40 }

describe('the simulation of a fleet', () => {
  it.each([
    { workers: 100, rate: 50, bodyMs: 1_000 },
    { workers: 2_000, rate: 500, bodyMs: 1_000 },
    { workers: 4_000, rate: 1_000, bodyMs: 500 },
  ])('loads Redis as computed by hand: %j', (fleet) => {
    const { workers, rate, bodyMs } = fleet
    const computed = (rate * costs.callUs + rate * (bodyMs / 1_000) * costs.runningUs + workers * costs.restUs) / 1e6
    const { load, mostWaiting } = simulate(fleet, costs)
    expect(load).toBeGreaterThan(computed * 0.9)
    expect(load).toBeLessThan(computed * 1.1)
    expect(mostWaiting).toBeLessThan(10)
  })

  it('adds four ways to Redis and back to a call in a fleet without load', () => {
    const { p50 } = simulate({ workers: 10, rate: 1, bodyMs: 100 }, { ...costs, restUs: 0 })
    expect(p50).toBeCloseTo(8 * 0.25 + 0.2, 1)
  })

  it('has a limit: beyond one core of Redis, or with too few workers, calls wait', () => {
    const beyond = simulate({ workers: 10_000, rate: 6_000, bodyMs: 100 }, { ...costs, seconds: 10 })
    expect([beyond.load >= 0.99, beyond.p99 > 1_000]).toEqual([true, true])
    const few = simulate({ workers: 10, rate: 20, bodyMs: 1_000 }, costs)
    expect([few.load < 0.1, few.mostWaiting > 100]).toEqual([true, true])
  })

  it('is the same for the same seed', () => {
    const fleet = { workers: 50, rate: 40, bodyMs: 1_000 }
    expect(simulate(fleet, costs)).toEqual(simulate(fleet, costs))
    expect(simulate(fleet, { ...costs, seed: 2 })).not.toEqual(simulate(fleet, costs))
  })
})
