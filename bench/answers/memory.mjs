import { median } from '../statistics.mjs'
import { createCalls } from '../workload.mjs'
import { heapInUse } from './heap-in-use.mjs'
import { heldTools } from './held-tools.mjs'

/** Heap bytes per call: with all calls of a turn unfinished; and after the turn, while its executor is still referenced. */
export async function memory(engine, { size, turns }) {
  const calls = createCalls(size, 'safe')
  const live = []
  const held = []
  // the first turn warms up
  for (let turn = 0; turn <= turns; turn++) {
    const bytes = await heldTurn(engine, calls)
    if (turn === 0) continue
    live.push(bytes.live / size)
    held.push(bytes.held / size)
  }
  return { live: median(live), held: median(held) }
}

async function heldTurn(engine, calls) {
  const { tools, running, releaseAll } = heldTools()
  const turn = engine.prepare({ tools, calls })
  const before = await heapInUse()
  const over = turn()
  await running(1)
  const live = (await heapInUse()) - before
  releaseAll()
  let { executor } = await over
  const held = (await heapInUse()) - before
  // a last use keeps it alive until here
  executor = executor === undefined ? undefined : null
  return { live, held }
}
