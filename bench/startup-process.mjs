import { engineIn } from './load-engine.mjs'

/**
 * In a fresh process: milliseconds until an engine is imported, and then until its first turn of one call is over; or
 * until a package is.
 */
const [kind, name] = process.argv.slice(2)
const start = performance.now()
const engine = kind === 'engine' ? await engineIn(name) : await import(name)
const imported = performance.now() - start
process.send({ imported, firstTurn: kind === 'engine' ? await firstTurn() : undefined }, () => process.disconnect())

async function firstTurn() {
  const { createCalls, createTools } = await import('./workload.mjs')
  const begin = performance.now()
  await engine.prepare({ tools: createTools(), calls: createCalls(1, 'safe') })()
  return performance.now() - begin
}
