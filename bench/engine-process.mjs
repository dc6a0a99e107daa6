import { setImmediate as nextTick } from 'node:timers/promises'
import { median } from './statistics.mjs'
import { verify } from './verify.mjs'
import { createCalls, createTools } from './workload.mjs'

/** Runs one engine and does what the parent asks, one request at a time. */
const { default: engine } = await import(`./engines/${process.argv[2]}.mjs`)
const tools = createTools()

const answers = {
  verify: async ({ sizes }) => verify(engine, sizes),
  time,
  memory,
}

process.on('message', async ({ command, ...request }) => {
  try {
    process.send({ answer: await answers[command](request) })
  } catch (error) {
    process.send({ error: error instanceof Error ? error.stack : String(error) })
  }
})

/**
 * Microseconds per call: the median of some samples. A sample is as many turns in a row as it takes to make
 * `callsPerSample` calls, so that small turns pay for their garbage like large ones. No forced collection before
 * it: the turns that follow one are slower for a while.
 */
async function time({ size, mix, callsPerSample, minSamples, minMs }) {
  // the process has slept while others were timed
  await microsecondsPerCall(createCalls(100, mix), 5)
  const calls = createCalls(size, mix)
  const turns = Math.ceil(callsPerSample / size)
  const samples = []
  const begin = performance.now()
  while (samples.length < minSamples || performance.now() - begin < minMs) {
    samples.push(await microsecondsPerCall(calls, turns))
  }
  return median(samples)
}

async function microsecondsPerCall(calls, turns) {
  const start = performance.now()
  for (let turn = 0; turn < turns; turn++) await engine.turn(calls, tools)
  return ((performance.now() - start) * 1_000) / (turns * calls.length)
}

/** Bytes of heap per call: while the executor is held after its turn, and once it is dropped. */
async function memory({ size }) {
  const calls = createCalls(size, 'safe')
  const perCall = async (before) => ((await heapInUse()) - before) / size
  for (let turn = 0; turn < 2; turn++) await engine.turn(calls, tools)
  const held = []
  const dropped = []
  for (let turn = 0; turn < 3; turn++) {
    const before = await heapInUse()
    let { executor } = await engine.turn(calls, tools)
    held.push(await perCall(before))
    // read once more, so that it was alive until here
    executor = executor === undefined ? undefined : null
    dropped.push(await perCall(before))
  }
  return { held: median(held), dropped: median(dropped) }
}

async function heapInUse() {
  await nextTick()
  globalThis.gc()
  await nextTick()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
