import { expect } from 'vitest'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, stateOf, takeReady, testTurn } from '../../support/turn.ts'
import { changedTo, heldHook, ids, turn } from './parts.ts'

const hooked = (options: Parameters<typeof turn>[0] = {}) => {
  const before = heldHook()
  const after = heldHook()
  const afterFailure = heldHook()
  const parts = turn({
    ...options,
    context: {
      ...options?.context,
      hooks: {
        PreToolUse: [{ matcher: 'Write|Bash|Search|Strict', hooks: [before.hook] }],
        PostToolUse: [{ matcher: 'Read|Fetch', hooks: [after.hook] }],
        PostToolUseFailure: [{ matcher: 'Read|Timed', hooks: [afterFailure.hook] }],
      },
    },
  })
  return { ...parts, before, after, afterFailure }
}

/** Hooks before and after a body. */
export const hooksScenarios: Record<string, () => Promise<void>> = {
  async 'preHooks: only where there are hooks; the body waits for them'() {
    const { add, executor, before, write, read } = hooked()
    add('r', 'Read')
    expect([read.started, before.runs]).toEqual([['r'], 0])
    read.run('r').fail('no')
    await flush()
    executor.abort('escape')
    expect(ids(takeReady(executor))).toEqual(['r'])
    const other = hooked()
    other.add('w', 'Write')
    expect([other.write.started, other.before.runs]).toEqual([[], 1])
    other.before.say()
    await flush()
    expect([other.write.started, write.started]).toEqual([['w'], []])
  },
  async 'preHooks: after validation, and before the question'() {
    let asked = 0
    const { add, before, verdicts } = hooked({ canUseTool: () => new Promise(() => asked++) })
    add('v', 'Strict')
    verdicts[0]?.()
    await flush()
    expect([before.runs, asked]).toEqual([1, 0])
    before.say()
    await flush()
    expect(asked).toBe(1)
  },
  async 'preHooks: what they decide is heeded'() {
    const { add, executor, before, write } = hooked()
    add('w', 'Write')
    before.say({ decision: 'block', reason: 'not today' })
    await flush()
    expect([takeReady(executor)[0]?.[1], write.started]).toEqual(['<tool_use_error>not today</tool_use_error>', []])
  },
  async 'preHooks: an input that is no longer safe goes back to the line, and no hook runs twice'() {
    const before = heldHook()
    const edit = heldTool('Edit', { isConcurrencySafe: (input) => !('writes' in input) })
    const { add, executor } = testTurn([edit.tool], { context: { hooks: { PreToolUse: [{ hooks: [before.hook] }] } } })
    add('a', 'Edit')
    add('b', 'Edit')
    before.say()
    await flush()
    before.say(changedTo({ writes: true }))
    await flush()
    expect([edit.started, stateOf(executor, 'b'), chartValue(executor).gate]).toEqual([['a'], 'queued', 'shared'])
    edit.run('a').finish()
    await flush()
    expect([edit.started, before.runs, chartValue(executor).gate]).toEqual([['a', 'b'], 0, 'exclusive'])
  },
  async 'preHooks: an input that no longer fits ends the call'() {
    for (const [name, run] of [
      ['Write', 'clear'],
      ['Bash', 'siblingErrored'],
    ] as const) {
      const { add, executor, before, write, bash } = hooked()
      for (const { tool } of [write, bash]) {
        tool.validateInput = (input) => ('bad' in input ? { result: false, message: 'bad' } : { result: true })
      }
      add('x', name)
      await flush()
      before.say(changedTo({ bad: true }))
      await flush()
      expect(takeReady(executor)).toEqual([['x', '<tool_use_error>bad</tool_use_error>']])
      expect(chartValue(executor).run).toBe(run)
    }
  },
  async 'preHooks: abort and interrupt end them, though not those of a block call'() {
    for (const [name, reason, isOver] of [
      ['Write', 'escape', true],
      ['Search', 'interrupt', true],
      ['Write', 'interrupt', false],
    ] as const) {
      const { add, executor, before, write, search } = hooked()
      add('x', name)
      executor.abort(reason)
      expect([ids(takeReady(executor)), before.signals[0]?.aborted]).toEqual([isOver ? ['x'] : [], isOver])
      before.say()
      await flush()
      expect(write.started.length + search.started.length).toBe(isOver ? 0 : 1)
    }
  },
  async 'permission: rules decide before anybody is asked, before and after validation and hooks'() {
    for (const [name, isAsked] of [
      ['Read', false],
      ['Fetch', true],
      ['Strict', false],
      ['Write', false],
    ] as const) {
      let asked = 0
      const { add, executor, before, verdicts } = hooked({
        canUseTool: () => new Promise(() => asked++),
        context: { permissions: { deny: ['Read', 'Strict', 'Write'], ask: ['Fetch'] } },
      })
      add('x', name)
      verdicts[0]?.()
      await flush()
      before.say()
      await flush()
      expect([name, ids(takeReady(executor)), asked]).toEqual([name, isAsked ? [] : ['x'], isAsked ? 1 : 0])
    }
  },
  async 'permission: where nobody has a word, nothing is decided'() {
    const toolDecisions = new Map()
    const { add, before, read, write } = hooked({ context: { toolDecisions } })
    add('w', 'Write')
    before.say()
    await flush()
    write.run('w').finish()
    await flush()
    add('r', 'Read')
    expect([write.started, read.started, toolDecisions.size]).toEqual([['w'], ['r'], 0])
  },
  async 'permission: rules decide right after validation where there are no hooks'() {
    const { add, executor, verdicts, strict } = turn({ context: { permissions: { deny: ['Strict'] } } })
    add('x', 'Strict')
    verdicts[0]?.()
    await flush()
    expect([ids(takeReady(executor)), strict.started]).toEqual([['x'], []])
  },
  async 'postHooks: after a success and after a failure; the result waits for them'() {
    for (const [end, which] of [
      ['finish', 'after'],
      ['fail', 'afterFailure'],
    ] as const) {
      const parts = hooked()
      parts.add('r', 'Read')
      if (end === 'finish') parts.read.run('r').finish()
      else parts.read.run('r').fail('no')
      await flush()
      expect([takeReady(parts.executor), parts[which].runs]).toEqual([[], 1])
      parts[which].say({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'other' } })
      await flush()
      const content = takeReady(parts.executor)[0]?.[1]
      if (end === 'finish') expect(content).toBe('other')
      else expect(content).toContain('no')
    }
  },
  async 'postHooks: abort and interrupt cut them short and keep the outcome, though not those of a block call'() {
    for (const [name, reason, isOver] of [
      ['Read', 'escape', true],
      ['Fetch', 'interrupt', true],
      ['Read', 'interrupt', false],
    ] as const) {
      const { add, executor, after, read, fetch } = hooked()
      add('x', name)
      for (const held of [read, fetch]) if (held.started.length > 0) held.run('x').finish()
      await flush()
      executor.abort(reason)
      expect(takeReady(executor)).toEqual(isOver ? [['x', 'x done']] : [])
      expect(after.signals[0]?.aborted).toBe(isOver)
    }
  },
  async 'postHooks: a timeout is a failure, settled or abandoned'() {
    for (const settles of [true, false]) {
      const timed = heldTool('Timed', { timeout: 10 })
      const failed = heldHook()
      const { add, executor, clock } = testTurn([timed.tool], {
        context: { hooks: { PostToolUseFailure: [{ hooks: [failed.hook] }] } },
      })
      add('t', 'Timed')
      clock.increment(10)
      if (settles) timed.run('t').finish()
      else clock.increment(5_000)
      await flush()
      expect([failed.runs, takeReady(executor)]).toEqual([1, []])
      failed.say()
      await flush()
      expect(takeReady(executor)[0]?.[1]).toContain('Timeout')
    }
  },
}
