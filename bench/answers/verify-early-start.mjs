import assert from 'node:assert/strict'
import { createCalls, createTools, textOf } from '../workload.mjs'
import { untilIdle } from './until-idle.mjs'

/** Keeps the stream open until the first call has started, or would have for engines that start early. */
export async function verifyEarlyStart(engine) {
  const { startsEarly } = engine.gives
  const calls = createCalls(3, 'safe')
  let begun = () => {}
  const firstCall = new Promise((resolve) => {
    begun = resolve
  })
  let hasBegun = false
  const tools = createTools(async (input) => {
    hasBegun = true
    begun()
    return { data: textOf(input) }
  })
  const pace = {
    until: (n) => (n === 0 ? undefined : startsEarly ? firstCall : untilIdle()),
    ended: () => {},
    over: () => assert.equal(hasBegun, startsEarly, 'whether calls start during the stream'),
  }
  const { results } = await engine.prepare({ tools, calls, pace })()
  assert.equal(results.length, calls.length)
}
