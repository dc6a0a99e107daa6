import assert from 'node:assert/strict'
import { textOf } from '../workload.mjs'

/** One result per call, in the order of the calls. */
export function checkResults(results, calls) {
  assert.equal(results.length, calls.length, 'one result per call')
  for (const [index, call] of calls.entries()) {
    assert.equal(results[index].tool_use_id, call.id, 'results in the order of the calls')
    assert.equal(results[index].content, textOf(call.input), 'the result of this call')
    assert.notEqual(results[index].is_error, true)
  }
}

/** The same, in any order. */
export function checkSet(results, calls) {
  const place = new Map(calls.map(({ id }, index) => [id, index]))
  checkResults(
    results.toSorted((a, b) => place.get(a.tool_use_id) - place.get(b.tool_use_id)),
    calls,
  )
}
