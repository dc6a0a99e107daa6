import { expect } from 'vitest'
import { type CanUseTool, createLocks, type QueryOptions, type Resources } from '../../../src/index.ts'
import { type HeldToolOptions, heldTool } from '../../support/held-tool.ts'
import { blockRecord, openedReply, startedRecord, stoppedRecord } from '../../support/log-records.ts'
import { testQuery } from '../../support/query.ts'
import { TestLog } from '../../support/test-log.ts'
import { flush, takeReady, testTurn } from '../../support/turn.ts'

const edit = (options: HeldToolOptions = {}) =>
  heldTool('Edit', { resources: () => ({ writes: ['file:/x'] }) as Resources, ...options })

/** Two executors with the same locks: in the first, `a` runs and holds the key. */
function two(options: HeldToolOptions = {}, turn: { canUseTool?: CanUseTool; hooks?: boolean } = {}) {
  const context = { locks: createLocks() }
  const first = edit()
  const holder = testTurn([first.tool], { context })
  holder.add('a', 'Edit')
  const second = edit(options)
  const hooks = turn.hooks === true ? { PreToolUse: [{ hooks: [async () => ({})] }] } : undefined
  const waiter = testTurn([second.tool], { context: { ...context, hooks }, canUseTool: turn.canUseTool })
  return { first, second, holder, waiter, locks: context.locks }
}

/** Keys that are shared between executors. */
export const locksScenarios: Record<string, () => Promise<void>> = {
  async 'a call waits for a key that another executor holds, whatever phases it comes from'() {
    const kinds: [string, HeldToolOptions, Parameters<typeof two>[1]][] = [
      ['plain', {}, {}],
      ['validated', { validateInput: () => ({ result: true }) }, {}],
      ['hooked', {}, { hooks: true }],
      ['decided', { checkPermissions: () => ({ behavior: 'allow' }) }, {}],
      ['asked', {}, { canUseTool: async () => ({ behavior: 'allow' }) }],
      ['deferred', {}, { canUseTool: () => ({ behavior: 'later' }) }],
    ]
    for (const [kind, options, turn] of kinds) {
      const { first, second, waiter } = two(options, turn)
      waiter.add('b', 'Edit')
      await flush()
      expect([kind, waiter.executor.answer('b', { behavior: 'allow' })]).toEqual([kind, kind === 'deferred'])
      await flush()
      expect([kind, second.started, waiter.executor.explain('b')?.ok]).toEqual([kind, [], false])
      first.run('a').finish()
      await flush()
      expect([kind, second.started]).toEqual([kind, ['b']])
      second.run('b').finish()
      await flush()
      expect([kind, takeReady(waiter.executor)]).toEqual([kind, [['b', 'b done']]])
    }
  },
  async 'while it waits for keys, a call can be aborted, and interrupted only where it stops for that'() {
    for (const [reason, cancel, isOver] of [
      ['escape', false, true],
      ['interrupt', true, true],
      ['interrupt', false, false],
    ] as const) {
      const { first, second, waiter, locks } = two({ cancel })
      waiter.add('b', 'Edit')
      await flush()
      waiter.executor.abort(reason)
      await flush()
      expect([reason, cancel, takeReady(waiter.executor).length]).toEqual([reason, cancel, isOver ? 1 : 0])
      expect(locks.holders().map(({ toolUseID }) => toolUseID)).toEqual(isOver ? ['a'] : ['a', 'b'])
      first.run('a').finish()
      await flush()
      expect(second.started).toEqual(isOver ? [] : ['b'])
    }
  },
  async 'the start of a call is recorded once it has its keys'() {
    const permissions = { allow: ['Edit'] }
    const kinds: [string, Partial<QueryOptions>][] = [
      ['plain', {}],
      ['decided', { context: { permissions } }],
      ['asked', { canUseTool: () => ({ behavior: 'allow' }) }],
    ]
    for (const [kind, { context, canUseTool }] of kinds) {
      const { first, second, locks } = two()
      const log = new TestLog()
      const { held } = testQuery([second.tool], {
        journal: log,
        context: { ...context, locks },
        ...(canUseTool !== undefined && { canUseTool }),
      })
      await flush()
      held.start()
      held.call('b', 'Edit')
      held.end('tool_use')
      await flush()
      expect([kind, second.started, log.types.includes('call.started')]).toEqual([kind, [], false])
      first.run('a').finish()
      log.hold()
      await flush()
      expect([kind, second.started, log.types.includes('call.started')]).toEqual([kind, [], true])
      log.release()
      await flush()
      expect([kind, second.started]).toEqual([kind, ['b']])
    }
  },
  async 'a call that runs again after a crash takes its keys first, and its start is not recorded twice'() {
    const { first, locks } = two()
    const second = edit({ recover: () => 'again' })
    const log = new TestLog([...openedReply(blockRecord('b', 'Edit')), startedRecord('b'), stoppedRecord])
    testQuery([second.tool], { journal: log, messages: log.fold.transcript.messages, context: { locks } })
    await flush()
    expect(second.started).toEqual([])
    first.run('a').finish()
    await flush()
    expect(second.started).toEqual(['b'])
    expect(log.types.filter((type) => type === 'call.started')).toEqual(['call.started'])
  },
}
