import { createCalls, createTools } from '../workload.mjs'

const prepared = new Map()

/**
 * Microseconds per call: turn after turn for at least `minMs`. Garbage collection counts. It is not forced before, because
 * the next turns would be slower for a while.
 */
export async function time(engine, { size, mix, minMs, isCpu }) {
  // warm up: the process was idle while others were timed
  await turns(turnOf(engine, 10, mix), 10, minMs / 10)
  const turn = turnOf(engine, size, mix)
  const before = process.cpuUsage()
  const { calls, ms } = await turns(turn, size, minMs)
  const { user, system } = process.cpuUsage(before)
  return (isCpu ? user + system : ms * 1_000) / calls
}

async function turns(turn, size, minMs) {
  const start = performance.now()
  let calls = 0
  do {
    await turn()
    calls += size
  } while (performance.now() - start < minMs)
  return { calls, ms: performance.now() - start }
}

/** One-time setup, such as declaring tools, is not timed. */
function turnOf(engine, size, mix) {
  const key = `${mix} ${size}`
  const known = prepared.get(key)
  if (known !== undefined) return known
  const turn = engine.prepare({ tools: createTools(), calls: createCalls(size, mix) })
  prepared.set(key, turn)
  return turn
}
