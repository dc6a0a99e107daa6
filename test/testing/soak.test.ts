import { describe, expect, it } from 'vitest'
import { simulate, simulateQuery } from '../../src/testing/index.ts'

const { SIGNALBOX_FULL, SIGNALBOX_SEED } = process.env
const turns = SIGNALBOX_FULL ? 100_000 : 2_000
// in the full run, a different seed every day, and the same one all day
const seed = Number(SIGNALBOX_SEED ?? (SIGNALBOX_FULL ? Math.floor(Date.now() / 86_400_000) : 1))

describe('a soak', () => {
  it('Y6 A7 P10: thousands of turns with faults, and nothing is breached', { timeout: 3_600_000 }, async () => {
    const { breach, runs, results } = await simulate({ seed, runs: turns })
    expect(breach?.text).toBeUndefined()
    expect(runs).toBe(turns)
    expect(results).toBeGreaterThan(turns)
  })

  it('L1 L8 Y6: hundreds of queries with faults, and nothing is breached', { timeout: 3_600_000 }, async () => {
    const { breach, runs } = await simulateQuery({ seed, runs: turns / 20 })
    expect(breach?.text).toBeUndefined()
    expect(runs).toBe(turns / 20)
  })
})
