import { expect } from 'vitest'
import { z } from 'zod'
import type { HookCallback, PermissionAnswer } from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, stateOf, takeAll, takeReady, testTurn } from '../../support/turn.ts'
import { ids, turn } from './parts.ts'

/** Which calls may start, and the order of results. */
export const gateScenarios: Record<string, () => Promise<void>> = {
  async 'safe calls share, an unsafe one waits, nothing overtakes it'() {
    const { add, read, write, executor } = turn()
    add('a', 'Read')
    add('b', 'Read')
    add('w', 'Write')
    add('c', 'Read')
    expect([read.started, write.started, chartValue(executor).gate]).toEqual([['a', 'b'], [], 'shared'])
    read.run('a').finish()
    await flush()
    expect([read.started, write.started]).toEqual([['a', 'b'], []])
    read.run('b').finish()
    await flush()
    expect([read.started, write.started, chartValue(executor).gate]).toEqual([['a', 'b'], ['w'], 'exclusive'])
    write.run('w').finish()
    await flush()
    expect([read.started, chartValue(executor).gate]).toEqual([['a', 'b', 'c'], 'shared'])
    read.run('c').finish()
    await flush()
    expect(chartValue(executor).gate).toBe('open')
    expect(ids(takeReady(executor))).toEqual(['a', 'b', 'w', 'c'])
    expect(['a', 'b', 'w', 'c'].map((id) => stateOf(executor, id))).toEqual(Array(4).fill('yielded'))
  },
  async 'unsafe calls follow each other, and the gate opens after the last'() {
    const { add, write, executor } = turn()
    add('a', 'Write')
    add('b', 'Write')
    expect([write.started, chartValue(executor).gate]).toEqual([['a'], 'exclusive'])
    write.run('a').finish()
    await flush()
    expect([write.started, chartValue(executor).gate]).toEqual([['a', 'b'], 'exclusive'])
    write.run('b').finish()
    await flush()
    expect(chartValue(executor).gate).toBe('open')
  },
  async 'several safe calls start together after an unsafe one, up to the limit'() {
    const { add, write, read } = turn({ maxConcurrency: 2 })
    add('w', 'Write')
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    write.run('w').finish()
    await flush()
    expect(read.started).toEqual(['a', 'b'])
    read.run('a').finish()
    await flush()
    expect(read.started).toEqual(['a', 'b', 'c'])
  },
  async 'held calls start when they are released, and only held ones are released'() {
    const { add, write, read, executor } = turn()
    add('r', 'Read', {}, { hold: true })
    add('w', 'Write', {}, { hold: true })
    add('s', 'Read')
    expect([read.started, write.started]).toEqual([[], []])
    executor.release('r')
    expect(read.started).toEqual(['r'])
    executor.release('w')
    read.run('r').finish()
    await flush()
    expect(write.started).toEqual(['w'])
    const [call] = executor.actor.getSnapshot().context.run.calls
    if (call !== undefined) executor.actor.send({ type: 'call.release', call })
    expect(ids(takeReady(executor))).toEqual(['r'])
    executor.abort('interrupt')
    write.run('w').finish()
    await flush()
    read.run('s').finish()
    await flush()
    const last = executor.actor.getSnapshot().context.run.calls.at(-1)
    if (last !== undefined) executor.actor.send({ type: 'call.release', call: last })
    expect(ids(takeReady(executor))).toEqual(['w', 's'])
  },
  async 'held calls can be withdrawn, and only held ones, before and after an interrupt'() {
    for (const reason of [undefined, 'interrupt']) {
      const { add, executor, read, write } = turn()
      add('w', 'Write', {}, { hold: true })
      add('r', 'Read')
      if (reason !== undefined) executor.abort(reason)
      expect(executor.withdraw('w', 'it was cut off')).toBe(true)
      expect([takeReady(executor)[0]?.[1], write.started, read.started]).toEqual([
        '<tool_use_error>This call did not run: it was cut off</tool_use_error>',
        [],
        ['r'],
      ])
      const running = executor.actor.getSnapshot().context.run.calls[1]
      if (running !== undefined) executor.actor.send({ type: 'call.withdraw', call: running, because: '' })
      await flush()
      expect([stateOf(executor, 'r'), read.run('r').context.abortController.signal.aborted]).toEqual([
        'executing',
        false,
      ])
      expect(executor.withdraw('r', 'no')).toBe(false)
    }
  },
  async 'calls whose body has not begun can be withdrawn together, before and after an interrupt'() {
    for (const reason of [undefined, 'interrupt']) {
      const { add, executor, read, write } = turn()
      add('r', 'Read')
      add('w', 'Write')
      add('h', 'Write', {}, { hold: true })
      if (reason !== undefined) executor.abort(reason)
      executor.withdrawRest('the reply broke off.')
      await flush()
      expect([read.started, write.started]).toEqual([['r'], []])
      read.run('r').finish({ data: 'R' })
      await flush()
      const didNotRun = '<tool_use_error>This call did not run: the reply broke off.</tool_use_error>'
      expect(takeReady(executor)).toEqual([
        ['r', 'R'],
        ['w', didNotRun],
        ['h', didNotRun],
      ])
    }
  },
  async 'an unknown tool is answered at once'() {
    const { add, executor } = turn()
    add('x', 'Nope')
    add('y', 'Nope')
    expect(ids(takeReady(executor))).toEqual(['x', 'y'])
    expect(stateOf(executor, 'y')).toBe('yielded')
  },
  async 'the cursor waits for the first, and hands over several messages one by one'() {
    const { add, read, executor } = turn()
    add('a', 'Read')
    add('b', 'Read')
    read.run('b').finish()
    await flush()
    expect(takeReady(executor)).toEqual([])
    executor.actor.send({ type: 'results.take' })
    expect([stateOf(executor, 'a'), stateOf(executor, 'b')]).toEqual(['executing', 'completed'])
    expect(executor.actor.getSnapshot().context.run.cursor).toBe(0)
    read.run('a').finish({ structuredOutput: 1 })
    await flush()
    const ready = executor.getCompletedResults()
    ready.next()
    expect(stateOf(executor, 'a')).toBe('completed')
    expect(takeAll(executor).map(({ message }) => message.type)).toEqual(['attachment', 'user'])
  },
  async 'calls that wait for a person take no place, and take one again when they are answered'() {
    for (const by of ['person', 'host', 'hook'] as const) {
      const { read, free, executor, add, answer, told } = askingTurn(by)
      add('a', 'Read')
      await flush()
      add('b', 'Free')
      await flush()
      expect([read.started, free.started, stateOf(executor, 'a')]).toEqual([[], ['b'], 'executing'])
      expect(told).toEqual(by === 'person' ? [] : ['a'])
      answer('a', { behavior: 'allow' })
      await flush()
      expect([stateOf(executor, 'a'), read.started]).toEqual(['queued', []])
      free.run('b').finish()
      await flush()
      expect(read.started).toEqual(['a'])
      for (const [updatedInput, state, started] of [
        [{ writes: true }, 'queued', []],
        [{ n: 'bad' }, 'completed', []],
        [{ n: 'worse' }, 'completed', []],
        [undefined, 'executing', ['a']],
      ] as const) {
        const other = askingTurn(by, 2, updatedInput !== undefined && 'n' in updatedInput && updatedInput.n === 'bad')
        other.add('x', 'Free')
        other.add('a', 'Read')
        await flush()
        other.answer('a', { behavior: 'allow', updatedInput })
        await flush()
        expect([stateOf(other.executor, 'a'), other.read.started]).toEqual([state, started])
        const { cancels } = other
        expect(chartValue(other.executor).run).toBe(cancels ? 'siblingErrored' : 'clear')
        other.add('y', 'Free')
        await flush()
        expect(other.free.started).toEqual(state === 'completed' && !cancels ? ['x', 'y'] : ['x'])
      }
      // a call with a free slot continues, ahead of an unsafe call that waits
      const two = askingTurn(by, 2)
      two.add('unsafe', 'Read')
      two.add('safe', 'Read')
      await flush()
      two.answer('unsafe', { behavior: 'allow', updatedInput: { writes: true } })
      two.answer('safe', { behavior: 'allow' })
      await flush()
      expect(two.read.started).toEqual(['safe'])
    }
  },
  async 'an event that names no call of the run is ignored, in every state of the run'() {
    const isActive = (states: readonly string[], bring: (executor: ReturnType<typeof turn>['executor']) => void) => {
      const { executor, clock } = turn()
      bring(executor)
      for (const type of states) {
        for (const call of [undefined, {}, { index: -1, port: {} }])
          executor.actor.send({ type, call, cause: {}, siblings: 5 } as never)
      }
      expect(executor.actor.getSnapshot().status).toBe('active')
      clock.increment(5_000)
    }
    const calls = ['add', 'release', 'withdraw', 'requeued', 'rekeyed', 'completed', 'paused', 'resumed']
    const types = [...calls.map((type) => `call.${type}`), 'abort.siblings']
    isActive(types, () => undefined)
    isActive(types, (executor) => executor.abort('interrupt'))
    isActive(types, (executor) => executor.abort('escape'))
    isActive(types, (executor) => executor.actor.send({ type: 'abort.siblingError' }))
  },
}

/** Answers that take time or are deferred by a host or a hook, and other calls meanwhile. */
function askingTurn(by: 'person' | 'host' | 'hook', maxConcurrency = 1, cancels = false) {
  const read = heldTool('Read', {
    inputSchema: z.looseObject({ n: z.number().optional() }),
    isConcurrencySafe: (input) => !('writes' in input),
    cancelsSiblingsOnError: cancels,
  })
  const free = heldTool('Free', { safe: true, checkPermissions: () => ({ behavior: 'allow' }) })
  const defer: HookCallback = async () => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
  })
  const turn = testTurn([read.tool, free.tool], {
    maxConcurrency,
    canUseTool: () => (by === 'person' ? new Promise(() => undefined) : { behavior: 'later' }),
    context: by === 'hook' ? { hooks: { PreToolUse: [{ matcher: 'Read', hooks: [defer] }] } } : {},
  })
  const told: string[] = []
  turn.executor.on('deferred', ({ toolUseID }) => told.push(toolUseID))
  const answer = (id: string, said: PermissionAnswer) => expect(turn.executor.answer(id, said)).toBe(true)
  return { ...turn, read, free, answer, told, cancels }
}
