import { setImmediate as nextTick } from 'node:timers/promises'
import { median } from '../statistics.mjs'
import { createCalls, createTools } from '../workload.mjs'
import { heldTools } from './held-tools.mjs'

/** Bytes of heap per call: while all calls of a turn are known and none is over; after it, while what ran it is held. */
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

/** Bytes of heap that each call of many turns leaves behind when the host keeps nothing. */
export async function retained(engine, { size, minCalls, maxMs }) {
  const turn = engine.prepare({ tools: createTools(), calls: createCalls(size, 'safe') })
  await turnsOf(turn, size, minCalls, maxMs)
  const before = await heapInUse()
  const calls = await turnsOf(turn, size, minCalls, maxMs)
  return ((await heapInUse()) - before) / calls
}

async function turnsOf(turn, size, minCalls, maxMs) {
  const end = performance.now() + maxMs
  let calls = 0
  while (calls < minCalls && (calls === 0 || performance.now() < end)) {
    await turn()
    calls += size
  }
  return calls
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
  // read once more, so that it was alive until here
  executor = executor === undefined ? undefined : null
  return { live, held }
}

async function heapInUse() {
  for (let pass = 0; pass < 3; pass++) {
    await nextTick()
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}
