import { reporting, streamed, weighed } from '../engine-list.mjs'
import { scenarios } from '../scenarios.mjs'
import { median, summaryOf } from '../statistics.mjs'

/** Heap per call at some sizes, and what stays behind. Sizes whose turns take too long are left out. */
export async function measureMemory(clients, verified, { memory, retained }, tell) {
  const rows = []
  for (const engine of weighed.filter((name) => clients.has(name))) {
    const client = clients.get(engine)
    const sizes = {}
    for (const size of memory.sizes) {
      const cell = verified.find((each) => each.engine === engine && each.mix === 'safe' && each.size === size)
      if (!(cell?.ms <= memory.maxTurnMs)) continue
      sizes[size] = await client.ask('memory', { size, turns: memory.turns })
    }
    rows.push({ engine, sizes, retained: await client.ask('retained', retained) })
    tell(`${engine}: memory measured`)
  }
  return rows
}

/** From a block's end to its tool's start. */
export async function measureLatency(clients, { latency, rounds }, tell) {
  const rows = await inRounds(clients, streamed, Math.min(rounds, 3), (client) => client.ask('latency', latency))
  tell('time to start measured')
  return rows.map(({ engine, answers }) => ({
    engine,
    fromBlock: summaryOf(answers.map(({ fromBlock }) => fromBlock)),
    fromStream: summaryOf(answers.map(({ fromStream }) => fromStream)),
  }))
}

/** Turns in real time. */
export async function measureOverlap(clients, { overlapRounds }, tell) {
  const rows = []
  for (const scenario of Object.keys(scenarios)) {
    const found = await inRounds(clients, streamed, overlapRounds, (client) => client.ask('overlap', { scenario }))
    for (const { engine, answers } of found) {
      const { overlapped } = answers[0]
      const [first, end] = ['first', 'end'].map((moment) => median(answers.map((answer) => answer[moment])))
      rows.push({ engine, scenario, first, end, overlapped })
    }
    tell(`overlap measured: ${scenario}`)
  }
  return rows
}

/** Reports per second. */
export async function measureProgress(clients, { progress, rounds }, tell) {
  const rows = await inRounds(clients, reporting, Math.min(rounds, 5), (client) => client.ask('progress', progress))
  tell('progress measured')
  return rows.map(({ engine, answers }) => ({ engine, ...summaryOf(answers) }))
}

async function inRounds(clients, names, rounds, ask) {
  const rows = names.filter((name) => clients.has(name)).map((engine) => ({ engine, answers: [] }))
  for (let round = 0; round < rounds; round++) {
    for (const { engine, answers } of rows) answers.push(await ask(clients.get(engine)))
  }
  return rows.filter(({ answers }) => answers.length > 0)
}
