import assert from 'node:assert/strict'
import { setImmediate as nextTick } from 'node:timers/promises'
import { maxConcurrency } from './plain-call.mjs'
import { createCalls, createTools, mixes, textOf } from './workload.mjs'

/** Throws unless the engine does the work of every cell that will be timed, and does it by the rules. */
export async function verify(engine, sizes) {
  for (const mix of Object.keys(mixes)) {
    for (const size of sizes) {
      const calls = createCalls(size, mix)
      const { results } = await engine.turn(calls, createTools())
      checkResults(results, calls)
    }
    if (engine.keepsRules) await checkRules(engine, createCalls(3 * maxConcurrency, mix), mix === 'safe')
  }
  // many that may start at the same moment
  const burst = [...createCalls(2, 'alternating').reverse(), ...createCalls(3 * maxConcurrency, 'safe').slice(2)]
  if (engine.keepsRules) await checkRules(engine, burst, true)
  await checkInvalidInput(engine)
}

function checkResults(results, calls) {
  assert.equal(results.length, calls.length, 'one result per call')
  for (const [index, call] of calls.entries()) {
    assert.equal(results[index].tool_use_id, call.id, 'results in the order of the calls')
    assert.equal(results[index].content, textOf(call.input), 'the result of this call')
    assert.notEqual(results[index].is_error, true)
  }
}

/** Bodies that take a while and count each other. */
async function checkRules(engine, calls, hasSafeRun) {
  let running = 0
  let mostRunning = 0
  let unsafeRunning = 0
  const tools = createTools(async (input, isUnsafe) => {
    running++
    if (isUnsafe) unsafeRunning++
    mostRunning = Math.max(mostRunning, running)
    assert.ok(unsafeRunning === 0 || running === 1, 'an unsafe call runs alone')
    await nextTick()
    if (isUnsafe) unsafeRunning--
    running--
    return { data: textOf(input) }
  })
  const { results } = await engine.turn(calls, tools)
  checkResults(results, calls)
  assert.equal(mostRunning, hasSafeRun ? maxConcurrency : 1, 'as many side by side as the rules allow')
}

async function checkInvalidInput(engine) {
  const ran = []
  const tools = createTools(async (input) => {
    ran.push(input.n)
    return { data: textOf(input) }
  })
  const calls = createCalls(3, 'safe')
  calls[1].input = { n: 'one', text: 'line' }
  const { results } = await engine.turn(calls, tools)
  assert.deepEqual(ran, [0, 2], 'an input that does not fit the schema does not run')
  assert.deepEqual(
    results.map((result) => [result.tool_use_id, result.is_error === true]),
    [
      ['toolu_0', false],
      ['toolu_1', true],
      ['toolu_2', false],
    ],
    'and is reported in its place',
  )
}
