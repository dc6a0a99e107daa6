import { expect } from 'vitest'
import { chartValue, settled, stateOf, takeAll, takeReady } from '../../support/turn.ts'
import { ids, turn } from './parts.ts'

/** Who may start, and what leaves in which order. */
export const gateScenarios: Record<string, () => Promise<void>> = {
  async 'safe calls share, an unsafe one waits, nothing overtakes it'() {
    const { add, read, write, executor } = turn()
    add('a', 'Read')
    add('b', 'Read')
    add('w', 'Write')
    add('c', 'Read')
    expect([read.started, write.started, chartValue(executor).gate]).toEqual([['a', 'b'], [], 'shared'])
    read.run('a').finish()
    await settled()
    expect([read.started, write.started]).toEqual([['a', 'b'], []])
    read.run('b').finish()
    await settled()
    expect([read.started, write.started, chartValue(executor).gate]).toEqual([['a', 'b'], ['w'], 'exclusive'])
    write.run('w').finish()
    await settled()
    expect([read.started, chartValue(executor).gate]).toEqual([['a', 'b', 'c'], 'shared'])
    read.run('c').finish()
    await settled()
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
    await settled()
    expect([write.started, chartValue(executor).gate]).toEqual([['a', 'b'], 'exclusive'])
    write.run('b').finish()
    await settled()
    expect(chartValue(executor).gate).toBe('open')
  },
  async 'several safe calls start together after an unsafe one, up to the limit'() {
    const { add, write, read } = turn({ maxConcurrency: 2 })
    add('w', 'Write')
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    write.run('w').finish()
    await settled()
    expect(read.started).toEqual(['a', 'b'])
    read.run('a').finish()
    await settled()
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
    await settled()
    expect(write.started).toEqual(['w'])
    const [call] = executor.actor.getSnapshot().context.run.calls
    if (call !== undefined) executor.actor.send({ type: 'call.release', call })
    expect(ids(takeReady(executor))).toEqual(['r'])
    executor.abort('interrupt')
    write.run('w').finish()
    await settled()
    read.run('s').finish()
    await settled()
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
      await settled()
      expect([stateOf(executor, 'r'), read.run('r').context.abortController.signal.aborted]).toEqual([
        'executing',
        false,
      ])
      expect(executor.withdraw('r', 'no')).toBe(false)
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
    await settled()
    expect(takeReady(executor)).toEqual([])
    executor.actor.send({ type: 'results.take' })
    expect([stateOf(executor, 'a'), stateOf(executor, 'b')]).toEqual(['executing', 'completed'])
    expect(executor.actor.getSnapshot().context.run.cursor).toBe(0)
    read.run('a').finish({ structuredOutput: 1 })
    await settled()
    const ready = executor.getCompletedResults()
    ready.next()
    expect(stateOf(executor, 'a')).toBe('completed')
    expect(takeAll(executor).map(({ message }) => message.type)).toEqual(['attachment', 'user'])
  },
}
