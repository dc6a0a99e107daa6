import { expect } from 'vitest'
import type { HookCallback } from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, testTurn } from '../../support/turn.ts'

const edit = () =>
  heldTool('Edit', {
    resources: ({ path }) => ({ writes: [`file:${path}`] }),
    normalizeInput: async (input) => ({ ...input, path: String(input.path).toLowerCase() }),
  })

/** Which calls share, and what a changed input does to that. */
export const resourcesScenarios: Record<string, () => Promise<void>> = {
  async 'writes to different files share, writes to one file take turns'() {
    const { tool, started, run } = edit()
    const { add, executor } = testTurn([tool])
    for (const [id, path] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const) {
      add(id, 'Edit', { path })
    }
    await flush()
    expect([started, chartValue(executor).gate]).toEqual([['a', 'b'], 'shared'])
    run('a').finish()
    await flush()
    expect(started).toEqual(['a', 'b', 'c'])
  },
  async 'an input that is normalised to the file of another call waits for that call'() {
    const { tool, started, run } = edit()
    const { add } = testTurn([tool])
    add('a', 'Edit', { path: 'x' })
    add('b', 'Edit', { path: 'X' })
    await flush()
    expect(started).toEqual(['a'])
    run('a').finish()
    await flush()
    expect(started).toEqual(['a', 'b'])
  },
  async 'an input that is normalised to a file that is free goes on, and keeps that file'() {
    const { tool, started } = edit()
    const { add, executor } = testTurn([tool])
    add('a', 'Edit', { path: 'X' })
    const states: unknown[] = []
    executor.actor.getSnapshot().context.run.calls[0]?.ref?.subscribe(({ value }) => states.push(value))
    await flush()
    add('b', 'Edit', { path: 'x' })
    add('c', 'Edit', { path: 'X' })
    await flush()
    expect(states).not.toContain('queued')
    expect([started, executor.explain('b')]).toMatchObject([['a'], { because: 'resource', key: 'file:x' }])
  },
  async 'a call whose checks and hooks change nothing does not go back to the queue'() {
    const { tool } = edit()
    const agree: HookCallback = async () => ({})
    const { add, executor } = testTurn([tool], { context: { hooks: { PreToolUse: [{ hooks: [agree] }] } } })
    add('a', 'Edit', { path: 'x' })
    const states: unknown[] = []
    executor.actor.getSnapshot().context.run.calls[0]?.ref?.subscribe(({ value }) => states.push(value))
    await flush()
    expect(states).toContainEqual({ executing: { calling: 'here' } })
    expect(states).not.toContain('queued')
  },
}
