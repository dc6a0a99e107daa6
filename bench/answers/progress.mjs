import assert from 'node:assert/strict'
import { z } from 'zod'

const inputSchema = z.object({})

/** Progress reports of one tool that reach the host per second. All must arrive, in order. */
export async function progress(engine, { count, minMs }) {
  const turn = engine.progress({ count, inputSchema })
  const start = performance.now()
  let reports = 0
  do {
    let next = 0
    await turn((data) => {
      assert.equal(data, next++, 'the reports in their order')
    })
    assert.equal(next, count, 'every report')
    reports += count
  } while (performance.now() - start < minMs)
  return (reports * 1_000) / (performance.now() - start)
}
