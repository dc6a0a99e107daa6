import { EngineClient } from './engine-client.mjs'
import { median, summaryOf } from './statistics.mjs'
import { mixes } from './workload.mjs'

/** Checks every engine, then times them in turns: each engine once per cell and round, side by side in time. */
export async function measure(engineNames, settings, tell) {
  const engines = engineNames.map((name) => new EngineClient(name))
  try {
    for (const engine of engines) await engine.ask('verify', { sizes: settings.sizes })
    tell('results verified')
    const memory = await measureMemory(engines, settings)
    tell('memory measured')
    const samples = new Map()
    // round 0 warms up and is not counted
    for (let round = 0; round <= settings.rounds; round++) {
      await measureRound(engines, settings, round, samples)
      tell(round === 0 ? 'warm' : `round ${round} of ${settings.rounds}`)
    }
    const cells = [...samples.values()].map(({ rounds, ...cell }) => ({ ...cell, ...summaryOf(rounds) }))
    return { cells, memory }
  } finally {
    for (const engine of engines) engine.close()
  }
}

async function measureMemory(engines, { memorySize: size }) {
  const memory = []
  for (const engine of engines) memory.push({ engine: engine.name, size, ...(await engine.ask('memory', { size })) })
  return memory
}

async function measureRound(engines, settings, round, samples) {
  for (const mix of Object.keys(mixes)) {
    for (const size of settings.sizes) {
      const isLarge = size >= settings.largeSize
      if (isLarge && (round === 0 || round > settings.largeRounds)) continue
      for (const engine of engines) {
        const microseconds = await engine.ask('time', { size, mix, ...(isLarge ? settings.largeTime : settings.time) })
        if (round > 0) add(samples, { engine: engine.name, mix, size }, microseconds)
      }
    }
  }
}

function add(samples, cell, microseconds) {
  const key = Object.values(cell).join(' ')
  const known = samples.get(key) ?? { ...cell, rounds: [] }
  known.rounds.push(microseconds)
  samples.set(key, known)
}

export const cellOf = ({ cells }, engine, mix, size) =>
  cells.find((cell) => cell.engine === engine && cell.mix === mix && cell.size === size)

/** Round by round, because what slowed the machine down for a while slowed both down. */
function ratio(above, below) {
  if (above === undefined || below === undefined) return undefined
  const rounds = Math.min(above.rounds.length, below.rounds.length)
  return median(Array.from({ length: rounds }, (_, round) => above.rounds[round] / below.rounds[round]))
}

export const ratioOf = (measured, engine, base, mix, size) =>
  ratio(cellOf(measured, engine, mix, size), cellOf(measured, base, mix, size))

/** What one call costs in a large turn over what it costs in a small one: 1 where the cost is linear. */
export const growthOf = (measured, engine, mix, large = 10_000, small = 100) =>
  ratio(cellOf(measured, engine, mix, large), cellOf(measured, engine, mix, small))
