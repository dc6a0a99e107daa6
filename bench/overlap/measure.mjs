import { engines } from './engines.mjs'
import { clockFrom, scenarios, sleep } from './scenarios.mjs'

/** The engines take turns within each round, and each turn's results are checked. */
export async function measureOverlap(rounds, tell) {
  const cells = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const [scenario, calls] of Object.entries(scenarios)) {
      for (const [engine, run] of Object.entries(engines)) {
        const key = `${scenario} ${engine}`
        const cell = cells.get(key) ?? { scenario, engine, first: [], end: [], overlapped: false }
        cells.set(key, cell)
        const { first, end, overlapped } = await oneTurn(run, calls)
        cell.first.push(first)
        cell.end.push(end)
        cell.overlapped ||= overlapped
      }
    }
    tell(`overlap, round ${round + 1} of ${rounds}`)
  }
  return [...cells.values()].map(({ first, end, ...cell }) => ({ ...cell, first: median(first), end: median(end) }))
}

async function oneTurn(run, calls) {
  const clock = clockFrom(performance.now())
  const results = []
  let first
  let running = 0
  let overlapped = false
  const work = async (n) => {
    running++
    // an engine that knows of unsafe calls runs them alone
    if (running > 1 && calls[n].name === 'Write') overlapped = true
    await sleep(calls[n].ms)
    running--
    return `result ${n}`
  }
  const got = (result) => {
    first ??= clock.now()
    results.push(String(result))
  }
  await run({ calls, clock, work, got })
  const end = clock.now()
  if ([...results].sort().join() !== calls.map((_, n) => `result ${n}`).join()) {
    throw new Error(`wrong results: ${results.join()}`)
  }
  return { first, end, overlapped }
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
