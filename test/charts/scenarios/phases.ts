import { expect } from 'vitest'
import type { PermissionAnswer } from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, stateOf, takeReady, testTurn } from '../../support/turn.ts'
import { asking, ids, turn } from './parts.ts'

/** One call through its phases. */
export const phasesScenarios: Record<string, () => Promise<void>> = {
  async 'a phase with nothing to do is stepped over'() {
    const { add, read, strict, verdicts, executor } = turn()
    add('r', 'Read')
    add('v', 'Strict', {}, { hold: true })
    add('h', 'Read', {}, { hold: true })
    const phases: unknown[] = []
    for (const { ref } of executor.actor.getSnapshot().context.run.calls) {
      ref?.subscribe(({ value }: { value: unknown }) => phases.push(value))
    }
    read.run('r').finish()
    await flush()
    executor.release('v')
    verdicts[0]?.()
    await flush()
    expect(strict.started).toEqual(['v'])
    expect(phases).toEqual([{ completed: 'durable' }, { executing: 'validating' }, { executing: { calling: 'here' } }])
    strict.run('v').finish()
    await flush()
    executor.release('h')
    expect(phases.slice(3)).toEqual([{ completed: 'durable' }, { executing: { calling: 'here' } }])
  },
  async 'validation: accepted, vetoed, and ended from outside'() {
    const { add, strict, verdicts, executor } = turn()
    add('ok', 'Strict')
    expect(strict.started).toEqual([])
    verdicts[0]?.()
    await flush()
    expect(strict.started).toEqual(['ok'])
    strict.run('ok').finish()
    await flush()
    expect(ids(takeReady(executor))).toEqual(['ok'])
    add('bad', 'Strict', { bad: true })
    verdicts[1]?.()
    await flush()
    expect(takeReady(executor)).toEqual([['bad', '<tool_use_error>bad</tool_use_error>']])
    expect(chartValue(executor).run).toBe('siblingErrored')
  },
  async 'validation: an input that does not fit, of a tool that cancels nobody'() {
    const { add, executor, write } = turn()
    add('w', 'Write', 'no object')
    expect(ids(takeReady(executor))).toEqual(['w'])
    expect([chartValue(executor), write.started]).toEqual([{ gate: 'open', run: 'clear' }, []])
  },
  async 'validation: abort and interrupt end it'() {
    for (const reason of ['escape', 'interrupt']) {
      const { add, executor, verdicts, strict } = turn()
      add('v', 'Strict')
      executor.abort(reason)
      expect(ids(takeReady(executor))).toEqual(['v'])
      verdicts[0]?.()
      await flush()
      expect(strict.started).toEqual([])
    }
  },
  async 'validation: an interrupt does not end a block call, and a question follows'() {
    const block = heldTool('Block', { validateInput: async () => ({ result: true }) })
    let asked = 0
    const { add, executor } = testTurn([block.tool], { canUseTool: () => new Promise(() => asked++) })
    add('b', 'Block')
    executor.abort('interrupt')
    expect(takeReady(executor)).toEqual([])
    await flush()
    expect([asked, block.started]).toEqual([1, []])
  },
  async 'permission: asked before the body runs; allowed, denied, rewritten'() {
    const { add, answer, write, executor } = asking()
    add('a', 'Write')
    expect(write.started).toEqual([])
    answer('a', { behavior: 'allow' })
    await flush()
    expect(write.started).toEqual(['a'])
    write.run('a').finish()
    await flush()
    add('d', 'Write')
    answer('d', { behavior: 'deny', message: 'no' })
    await flush()
    expect(takeReady(executor)).toEqual([
      ['a', 'a done'],
      ['d', '<tool_use_error>no</tool_use_error>'],
    ])
    expect(chartValue(executor)).toEqual({ gate: 'open', run: 'clear' })
    add('u', 'Write')
    answer('u', { behavior: 'allow', updatedInput: 'no object' as never })
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('no longer matches the schema')
    expect(chartValue(executor).run).toBe('clear')
  },
  async 'permission: a denial that stops the turn keeps its message, and nothing starts after it'() {
    for (const before of [undefined, 'interrupt']) {
      let deny = (): void => undefined
      const { add, write, read, executor, host } = turn({
        canUseTool: (_tool, _input, _context, _message, id) => {
          if (id !== 'a') return { behavior: 'allow' }
          return new Promise((resolve) => {
            deny = () => resolve({ behavior: 'deny', message: 'stop', interrupt: true })
          })
        },
      })
      if (before !== undefined) executor.abort(before)
      add('a', 'Write')
      add('b', 'Write')
      add('c', 'Read')
      deny()
      await flush()
      const results = takeReady(executor)
      expect([ids(results), results[0]?.[1]]).toEqual([['a', 'b', 'c'], '<tool_use_error>stop</tool_use_error>'])
      expect([write.started, read.started, host.signal.reason]).toEqual([[], [], 'permission_stop'])
      expect(chartValue(executor)).toEqual({ gate: 'open', run: 'aborted' })
    }
  },
  async 'permission: a rewritten input of a tool that cancels siblings'() {
    const { add, answer, executor } = asking()
    add('b', 'Bash')
    answer('b', { behavior: 'allow', updatedInput: [] as never })
    await flush()
    expect(chartValue(executor).run).toBe('siblingErrored')
  },
  async 'permission: a rewritten input that is no longer safe goes back to the line, and nobody asks twice'() {
    let questions = 0
    const edit = heldTool('Edit', { isConcurrencySafe: (input) => !('writes' in input) })
    const { add, executor } = testTurn([edit.tool], {
      canUseTool: (_tool, _input, _context, _message, id) => {
        questions++
        return id === 'b' ? { behavior: 'allow', updatedInput: { writes: true } } : { behavior: 'allow' }
      },
    })
    add('a', 'Edit')
    add('b', 'Edit')
    expect([edit.started, stateOf(executor, 'b'), chartValue(executor).gate]).toEqual([['a'], 'queued', 'shared'])
    edit.run('a').finish()
    await flush()
    expect([edit.started, questions, chartValue(executor).gate]).toEqual([['a', 'b'], 2, 'exclusive'])
  },
  async 'permission: what is forbidden while a permitted call waits in the line stops it'() {
    const answers = new Map<string, (answer: PermissionAnswer) => void>()
    const edit = heldTool('Edit', { isConcurrencySafe: (input) => !('writes' in input) })
    const { add, executor } = testTurn([edit.tool], {
      canUseTool: (_tool, _input, _context, _message, id) => new Promise((resolve) => answers.set(id, resolve)),
    })
    for (const id of ['a', 'b', 'c']) add(id, 'Edit')
    answers.get('a')?.({ behavior: 'allow' })
    answers.get('b')?.({ behavior: 'allow', updatedInput: { writes: true } })
    await flush()
    expect([edit.started, stateOf(executor, 'b')]).toEqual([['a'], 'queued'])
    answers.get('c')?.({ behavior: 'deny', message: 'no', addRules: { deny: ['Edit'] } })
    await flush()
    edit.run('a').finish()
    await flush()
    expect([edit.started, ids(takeReady(executor))]).toEqual([['a'], ['a', 'b', 'c']])
  },
  async 'permission: abort and interrupt end the question'() {
    for (const reason of ['escape', 'interrupt']) {
      const { add, answer, write, executor } = asking()
      add('a', 'Write')
      executor.abort(reason)
      expect(ids(takeReady(executor))).toEqual(['a'])
      answer('a', { behavior: 'allow' })
      await flush()
      expect(write.started).toEqual([])
    }
  },
}
