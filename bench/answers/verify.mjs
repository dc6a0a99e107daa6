import { createCalls, createTools } from '../workload.mjs'
import { checkResults, checkSet } from './check-results.mjs'

/** Throws unless the engine does the work of a cell. Returns the milliseconds of the turn. */
export async function verify(engine, { size, mix }) {
  const calls = createCalls(size, mix)
  const turn = engine.prepare({ tools: createTools(), calls })
  const start = performance.now()
  const { results } = await turn()
  const ms = performance.now() - start
  const check = engine.gives.order === 'calls' ? checkResults : checkSet
  check(results, calls)
  return ms
}
