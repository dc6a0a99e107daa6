import { expect } from 'vitest'
import type { StreamingToolExecutor } from '../../../src/index.ts'
import { type HeldToolOptions, heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, takeReady, testTurn } from '../../support/turn.ts'
import { heldHook, ids } from './parts.ts'

const flaky = (options: HeldToolOptions = {}, context: object = {}) => {
  const held = heldTool('Flaky', { retry: { attempts: 2, backoffMs: 100 }, cancelsSiblingsOnError: true, ...options })
  return { held, ...testTurn([held.tool], { context }) }
}

/** The transitions of the first call from here. */
const phasesOf = (executor: StreamingToolExecutor): unknown[] => {
  const phases: unknown[] = []
  executor.actor.getSnapshot().context.run.calls[0]?.ref?.subscribe(({ value }) => phases.push(value))
  return phases
}

/** A tool with retries. */
export const retriesScenarios: Record<string, () => Promise<void>> = {
  async 'retrying: the body runs again after the backoff, and only its last failure counts'() {
    const { held, add, executor, clock } = flaky()
    add('f', 'Flaky')
    held.run('f').fail('first')
    await flush()
    expect([held.started, takeReady(executor), chartValue(executor).run]).toEqual([['f'], [], 'clear'])
    clock.increment(100)
    expect(held.started).toEqual(['f', 'f'])
    held.run('f').fail('second')
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('second')
    expect(chartValue(executor).run).toBe('siblingErrored')
  },
  async 'retrying: abort and interrupt end the backoff, though not that of a block call'() {
    for (const [cancel, reason, isOver] of [
      [false, 'escape', true],
      [true, 'interrupt', true],
      [false, 'interrupt', false],
    ] as const) {
      const { held, add, executor, clock } = flaky({ cancel })
      add('f', 'Flaky')
      held.run('f').fail('first')
      await flush()
      executor.abort(reason)
      expect(ids(takeReady(executor))).toEqual(isOver ? ['f'] : [])
      clock.increment(100)
      expect(held.started).toHaveLength(isOver ? 1 : 2)
    }
  },
  async 'retrying: the total spans the attempts, with and without hooks for a failure'() {
    for (const hasHooks of [false, true]) {
      const failed = heldHook()
      const hooks = hasHooks ? { PostToolUseFailure: [{ hooks: [failed.hook] }] } : {}
      const { held, add, executor, clock } = flaky({ timeout: 50 }, { hooks })
      add('f', 'Flaky')
      held.run('f').fail('first')
      await flush()
      const phases = phasesOf(executor)
      clock.increment(50)
      expect(phases).toEqual([
        { executing: hasHooks ? 'postHooks' : 'formatting' },
        ...(hasHooks ? [] : [{ completed: 'durable' }]),
      ])
      expect(failed.runs).toBe(hasHooks ? 1 : 0)
      if (hasHooks) expect(takeReady(executor)).toEqual([])
      failed.say()
      await flush()
      expect(takeReady(executor)[0]?.[1]).toContain('Timeout')
      clock.increment(100)
      expect(held.started).toEqual(['f'])
    }
  },
}
