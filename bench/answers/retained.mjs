import { createCalls, createTools } from '../workload.mjs'
import { heapInUse } from './heap-in-use.mjs'

/** Heap bytes that each call leaves behind over many turns, if the host keeps nothing. */
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
