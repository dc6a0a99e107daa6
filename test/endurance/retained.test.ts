import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { drain, testTurn } from '../support/turn.ts'

describe('memory after a result was delivered', () => {
  it('Y5 a result that was handed over is no longer held by the executor', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool])
    add('a', 'Read')
    const data = { large: 'x'.repeat(1_000) }
    read.run('a').finish({ data, structuredOutput: data })
    const updates = await drain(executor)
    expect(updates).toHaveLength(2)
    const [call] = executor.actor.getSnapshot().context.run.calls
    expect(reachable(call).has(data)).toBe(false)
  })
})

/** Every object that is reachable from here through own fields. */
function reachable(from: unknown, seen = new Set<unknown>()): Set<unknown> {
  if (typeof from !== 'object' || from === null || seen.has(from)) return seen
  seen.add(from)
  for (const key of Object.keys(from)) reachable((from as Record<string, unknown>)[key], seen)
  return seen
}
