import { engineIn } from './load-engine.mjs'

/** In a fresh process: milliseconds until the engine is imported, and then until its first turn of one call is over. */
const start = performance.now()
const engine = await engineIn(process.argv[2])
const imported = performance.now()
const { createCalls, createTools } = await import('./workload.mjs')
const begin = performance.now()
await engine.prepare({ tools: createTools(), calls: createCalls(1, 'safe') })()
const end = performance.now()
process.send({ imported: imported - start, firstTurn: end - begin }, () => process.disconnect())
