import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../statistics.mjs'
import { createCalls, createTools, textOf } from '../workload.mjs'
import { checkSet } from './check-results.mjs'

/** Microseconds from the end of a block to the start of its tool, and from the end of the stream to the first later start. */
export async function latency(engine, { blocks, turns }) {
  const calls = createCalls(blocks, 'safe')
  const fromBlock = []
  const fromStream = []
  for (let turn = 0; turn < turns; turn++) {
    const { ended, started, over } = await moments(engine, calls)
    // the first turns warm up
    if (turn < Math.floor(turns / 4)) continue
    fromBlock.push(...calls.map((_, n) => started[n] - ended[n]))
    fromStream.push(Math.min(...started) - over)
  }
  return { fromBlock: median(fromBlock) * 1_000, fromStream: median(fromStream) * 1_000 }
}

async function moments(engine, calls) {
  const ended = []
  const started = []
  let over
  const tools = createTools(async (input) => {
    started[input.n] = performance.now()
    return { data: textOf(input) }
  })
  const pace = {
    // the parts of a reply arrive some milliseconds apart
    until: () => sleep(2),
    ended: (n) => {
      ended[n] = performance.now()
    },
    over: () => {
      over = performance.now()
    },
  }
  const { results } = await engine.prepare({ tools, calls, pace })()
  checkSet(results, calls)
  return { ended, started, over }
}
