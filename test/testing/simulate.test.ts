import { describe, expect, it } from 'vitest'
import { heldTool, replayTurn, simulate, type turnInvariants } from '../../src/testing/index.ts'

describe('simulated turns', () => {
  it('Y6 A4 A5 A7 P10 keep every invariant, whatever goes wrong', async () => {
    const { breach, runs, results } = await simulate({ seed: 7, runs: 300 })
    expect(breach?.text).toBeUndefined()
    expect([runs, results > 500]).toEqual([300, true])
  })

  it('are the same for the same seed, byte for byte, and others for another', async () => {
    const logsOf = async (seed: number): Promise<[string, string]> => {
      const logs: string[] = []
      const { digest } = await simulate({ seed, runs: 40, onRun: (log) => logs.push(log) })
      return [logs.join(''), digest]
    }
    const first = await logsOf(3)
    expect(await logsOf(3)).toEqual(first)
    expect((await logsOf(4))[0]).not.toBe(first[0])
    expect(first[0].length).toBeGreaterThan(10_000)
  })

  it('Y6 give the same recordings for the same seed, byte for byte, over a whole range of seeds', async () => {
    const recordingsOf = async (seed: number): Promise<string> => {
      const recordings: string[] = []
      await simulate({ seed, runs: 4, onRecording: (recording) => recordings.push(recording) })
      expect(recordings).toHaveLength(4)
      return recordings.join('')
    }
    const seeds = Array.from({ length: process.env.SIGNALBOX_FULL === '1' ? 400 : 40 }, (_, seed) => seed)
    const first: string[] = []
    for (const seed of seeds) first.push(await recordingsOf(seed))
    // in a different order, so that results cannot depend on the number of earlier turns
    for (const seed of seeds.toReversed()) expect(await recordingsOf(seed)).toBe(first[seed])
    expect(new Set(first).size).toBe(seeds.length)
  })

  it('are shrunk to the smallest story', async () => {
    const wish = {
      name: 'no Edit fails',
      check: ({ calls }: Parameters<(typeof turnInvariants)[number]['check']>[0]) =>
        calls.find(({ name, body }) => name === 'Edit' && body?.outcome?.ok === false)?.id,
    }
    const tools = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]
    const { breach } = await simulate({ seed: 1, runs: 200, tools, invariants: [wish] })
    const moves = (breach?.story ?? []).filter((move) => !/arrives|accepted|passes|allows|released/.test(move))
    expect(moves.at(-1)).toMatch(/fails|throws nothing/)
    expect(moves.length).toBeLessThanOrEqual(3)
    await expect(replayTurn(breach?.setup ?? { tools, calls: [] }, breach?.story ?? [])).rejects.toThrow(
      'no Edit fails',
    )
  })

  it('stop after maxMs', async () => {
    let time = 0
    const { runs } = await simulate({ seed: 1, runs: 1_000, maxMs: 5, now: () => time++ })
    expect(runs).toBeLessThan(10)
  })
})
