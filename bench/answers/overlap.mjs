import { setTimeout as sleep } from 'node:timers/promises'
import { scenarios } from '../scenarios.mjs'
import { createTools, textOf } from '../workload.mjs'
import { checkSet } from './check-results.mjs'

/** One turn in real time. Milliseconds until the first result and until all results are available. */
export async function overlap(engine, { scenario }) {
  const calls = scenarios[scenario]
  const begin = performance.now()
  const now = () => performance.now() - begin
  let first
  let running = 0
  let overlapped = false
  const tools = createTools(async (input, isUnsafe) => {
    running++
    if (isUnsafe && running > 1) overlapped = true
    await sleep(calls[input.n].ms)
    running--
    return { data: textOf(input) }
  })
  const pace = { until: (n) => sleep(Math.max(0, calls[n].endsAt - now())), ended: () => {}, over: () => {} }
  const got = () => {
    first ??= now()
  }
  const { results } = await engine.prepare({ tools, calls, pace, got })()
  const end = now()
  checkSet(results, calls)
  return { first, end, overlapped }
}
