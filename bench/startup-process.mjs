import { engineIn } from './load-engine.mjs'

/**
 * In a fresh process: milliseconds to import an engine, then to run its first turn of one call; or to import a package.
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
