import assert from 'node:assert/strict'
import { createCalls, createTools, textOf } from '../workload.mjs'
import { checkSet } from './check-results.mjs'
import { heldTools } from './held-tools.mjs'
import { verifyEarlyStart } from './verify-early-start.mjs'

/** Throws unless the engine does exactly what it declares. */
export async function verifyRules(engine) {
  await checkInvalidInput(engine)
  await checkSideBySide(engine)
  await checkExclusive(engine)
  await checkOrder(engine)
  if (engine.streams) await verifyEarlyStart(engine)
}

async function checkInvalidInput(engine) {
  const ran = []
  const tools = createTools(async (input) => {
    ran.push(input.n)
    return { data: textOf(input) }
  })
  const calls = createCalls(3, 'safe')
  calls[1].input = { n: 'one', text: 'line' }
  const { results } = await engine.prepare({ tools, calls })()
  assert.deepEqual(ran.toSorted(), [0, 2], 'an input that does not fit the schema does not run')
  const failed = Object.fromEntries(results.map((result) => [result.tool_use_id, result.is_error === true]))
  assert.deepEqual(failed, { toolu_0: false, toolu_1: true, toolu_2: false }, 'and is reported for its call')
}

async function checkSideBySide(engine) {
  const { sideBySide } = engine.gives
  const calls = createCalls(30, 'safe')
  const held = heldTools()
  const over = engine.prepare({ tools: held.tools, calls })()
  const expected = Math.min(calls.length, sideBySide)
  await held.running(expected)
  assert.equal(held.bodies.size, expected, 'so many run side by side')
  held.releaseAll()
  checkSet((await over).results, calls)
}

/** An unsafe call between two safe ones. */
async function checkExclusive(engine) {
  const calls = [...createCalls(2, 'alternating'), ...createCalls(4, 'safe').slice(2)]
  const held = heldTools()
  const over = engine.prepare({ tools: held.tools, calls })()
  const { isExclusive } = engine.gives
  await held.running(isExclusive ? 1 : 4)
  const together = [...held.bodies.keys()]
  assert.deepEqual(together, isExclusive ? [0] : [0, 1, 2, 3], 'whether an unsafe call waits for others')
  if (isExclusive) {
    held.release(0)
    await held.running(1)
    assert.deepEqual([...held.bodies.keys()], [1], 'an unsafe call runs alone')
  }
  held.releaseAll()
  checkSet((await over).results, calls)
}

/** The last call finishes first. */
async function checkOrder(engine) {
  const calls = createCalls(4, 'safe')
  const held = heldTools()
  const over = engine.prepare({ tools: held.tools, calls })()
  await held.running(4)
  for (const n of [3, 2, 1, 0]) {
    held.release(n)
    await held.running(n)
  }
  const ids = (await over).results.map((result) => result.tool_use_id)
  const inOrder = calls.map(({ id }) => id)
  assert.deepEqual(ids, engine.gives.order === 'calls' ? inOrder : inOrder.toReversed(), 'the order of the results')
}
