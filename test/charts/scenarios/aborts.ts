import { expect } from 'vitest'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, resultOf, stateOf, takeAll, takeReady, testTurn } from '../../support/turn.ts'
import { ids, turn } from './parts.ts'

/** Which calls an abort reaches, and its results. */
export const abortsScenarios: Record<string, () => Promise<void>> = {
  async 'an abort gives a running body its grace'() {
    const { add, read, executor, clock } = turn()
    add('quick', 'Read')
    add('stuck', 'Read')
    executor.abort('escape')
    expect([stateOf(executor, 'quick'), chartValue(executor)]).toEqual([
      'executing',
      { gate: 'shared', run: 'aborted' },
    ])
    expect(read.run('quick').context.abortController.signal.reason).toBe('escape')
    read.run('quick').finish({ data: 'half', interrupted: true })
    await flush()
    expect(takeReady(executor)[0]?.[1]).toMatch(/stopped before it finished.*\n.*\nhalf$/)
    clock.increment(5_000)
    expect([ids(takeReady(executor)), chartValue(executor).gate]).toEqual([['stuck'], 'open'])
  },
  async 'a call that fails may take with it only those that it names, now and later'() {
    for (const reason of [undefined, 'interrupt', 'escape']) {
      const read = heldTool('Read', { safe: true })
      const bash = heldTool('Bash', {
        safe: true,
        cancelsSiblingsOnError: (_, { input }) => (input as { kind?: string }).kind === 'shell',
      })
      const { add, executor, clock } = testTurn([read.tool, bash.tool])
      add('other', 'Read')
      add('named', 'Read', { kind: 'shell' })
      add('b', 'Bash')
      if (reason !== undefined) executor.abort(reason)
      if (reason === 'escape') executor.actor.send({ type: 'abort.siblings', siblings: ['named'], description: 'Bash' })
      bash.run('b').fail('no')
      await flush()
      const { signal } = read.run('other').context.abortController
      expect([reason, signal.aborted]).toEqual([reason, reason === 'escape'])
      add('late', 'Read', { kind: 'shell' })
      add('free', 'Read')
      expect(read.started).toEqual(reason === 'escape' ? ['other', 'named'] : ['other', 'named', 'free'])
      clock.increment(5_000)
      if (reason !== 'escape') read.run('other').finish()
      await flush()
      const texts = new Map(takeReady(executor))
      for (const id of reason === 'escape' ? ['named'] : ['named', 'late']) {
        expect([id, texts.get(id)]).toEqual([id, expect.stringContaining('parallel tool call Bash errored')])
      }
      expect(texts.get('other')).not.toContain('parallel')
      expect(chartValue(executor).run).toBe(
        reason === undefined ? 'clear' : reason === 'interrupt' ? 'interrupted' : 'aborted',
      )
    }
  },
  async 'a stronger reason overtakes a weaker one while a body stops'() {
    const { add, executor, clock, bash } = turn()
    add('s', 'Search')
    add('b', 'Bash')
    executor.abort('interrupt')
    bash.run('b').fail('no')
    await flush()
    clock.increment(5_000)
    expect(takeReady(executor)[0]?.[1]).toContain('Cancelled: parallel tool call Bash errored')
  },
  async 'a timeout is an error of its own; the user overtakes it'() {
    for (const [reason, text] of [
      [undefined, 'Timeout'],
      ['escape', 'The user stopped'],
      ['interrupt', 'The user stopped'],
    ]) {
      for (const settles of [true, false]) {
        const slow = heldTool('Slow', { cancel: true, timeout: 10 })
        const { add, executor, clock } = testTurn([slow.tool])
        add('t', 'Slow')
        clock.increment(10)
        if (reason !== undefined) executor.abort(reason)
        expect(stateOf(executor, 't')).toBe('executing')
        if (settles) slow.run('t').finish()
        else clock.increment(5_000)
        await flush()
        expect(takeReady(executor)[0]?.[1]).toContain(text)
      }
    }
  },
  async 'an interrupt leaves block calls alone, running, stopping or in the line'() {
    const slow = heldTool('Slow', { timeout: 10 })
    const { add, executor, clock } = testTurn([slow.tool])
    add('t', 'Slow')
    add('q', 'Slow')
    clock.increment(10)
    executor.abort('interrupt')
    clock.increment(5_000)
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('Timeout')
    expect(slow.started).toEqual(['t', 'q'])
    const { add: addMore, read, executor: other } = turn()
    addMore('r', 'Read')
    other.abort('interrupt')
    other.abort('interrupt')
    expect(read.run('r').context.abortController.signal.aborted).toBe(false)
    expect(chartValue(other).run).toBe('interrupted')
  },
  async 'an interrupt answers cancel calls, waiting ones and later ones too'() {
    const { add, search, write, read, executor } = turn()
    add('s', 'Search')
    add('w', 'Write')
    add('f', 'Fetch')
    executor.abort('interrupt')
    add('later', 'Search')
    add('runs', 'Read', {}, { hold: true })
    executor.release('runs')
    expect(search.run('s').context.abortController.signal.reason).toBe('interrupt')
    search.run('s').fail('stopped')
    await flush()
    expect(write.started).toEqual(['w'])
    write.run('w').finish()
    await flush()
    expect(read.started).toEqual(['runs'])
    expect(ids(takeReady(executor))).toEqual(['s', 'w', 'f', 'later'])
    executor.abort('escape')
    expect(chartValue(executor).run).toBe('aborted')
    expect(read.run('runs').context.abortController.signal.reason).toBe('escape')
  },
  async 'an abort answers the line and what comes later'() {
    const { add, write, executor } = turn()
    add('w', 'Write')
    add('q', 'Write')
    executor.abort('escape')
    add('later', 'Read')
    executor.abort('again')
    write.run('w').finish()
    await flush()
    expect(ids(takeReady(executor))).toEqual(['w', 'q', 'later'])
    expect(write.started).toEqual(['w'])
  },
  async 'a sibling error answers everybody else, once'() {
    for (const before of ['clear', 'interrupt', 'escape']) {
      const mapped = heldTool('Mapped', {
        safe: true,
        cancelsSiblingsOnError: true,
        mapResult: (data, id) => {
          if (before === 'escape') executor.abort(before)
          return { type: 'tool_result', tool_use_id: id, content: String(data), is_error: true }
        },
      })
      const read = heldTool('Read', { safe: true })
      const write = heldTool('Write')
      const { add, executor, clock } = testTurn([mapped.tool, read.tool, write.tool])
      add('r', 'Read')
      add('m', 'Mapped')
      add('w', 'Write')
      if (before === 'interrupt') executor.abort(before)
      mapped.run('m').finish()
      await flush()
      expect(chartValue(executor).run).toBe('siblingErrored')
      add('later', 'Read')
      clock.increment(5_000)
      await flush()
      const texts = takeReady(executor)
      expect(ids(texts)).toEqual(['r', 'm', 'w', 'later'])
      for (const at of before === 'escape' ? [0, 3] : [0, 2, 3])
        expect(texts[at]?.[1]).toContain('parallel tool call Mapped errored')
      expect(texts[1]?.[1]).toBe('m done')
      expect(write.started).toEqual([])
    }
  },
  async 'a result without an error cancels nobody'() {
    const { add, bash, read, executor } = turn()
    add('r', 'Read')
    add('b', 'Bash')
    bash.run('b').finish({ data: { exit: 0 } })
    await flush()
    expect([chartValue(executor).run, read.run('r').context.abortController.signal.aborted]).toEqual(['clear', false])
    read.run('r').finish()
    await flush()
    expect(takeReady(executor)).toEqual([
      ['r', 'r done'],
      ['b', '{"exit":0}'],
    ])
  },
  async 'an abort cuts the storing of a result short, an interrupt only that of a cancel call'() {
    for (const [name, reason, isCut] of [
      ['Block', 'escape', true],
      ['Block', 'interrupt', false],
      ['Cancel', 'interrupt', true],
    ] as const) {
      const tools = [
        heldTool('Block', { maxResultSizeChars: 5 }),
        heldTool('Cancel', { cancel: true, maxResultSizeChars: 5 }),
      ]
      const store = { save: () => new Promise<never>(() => undefined) }
      const { add, executor } = testTurn(
        tools.map(({ tool }) => tool),
        { resultStore: store },
      )
      add('long', name)
      tools
        .find(({ tool }) => tool.name === name)
        ?.run('long')
        .finish({ data: 'more than five' })
      await flush()
      expect(takeReady(executor)).toEqual([])
      executor.abort(reason)
      const results = takeReady(executor)
      expect(results).toHaveLength(isCut ? 1 : 0)
      if (isCut) expect(results[0]?.[1]).toMatch(/^more .*could not be stored: the call was stopped/s)
    }
  },
  async 'a discard silences every state'() {
    const before: Record<string, (parts: ReturnType<typeof turn>) => void> = {
      clear: () => undefined,
      interrupted: ({ executor }) => executor.abort('interrupt'),
      aborted: ({ executor }) => executor.abort('escape'),
      siblingErrored: ({ executor }) => executor.actor.send({ type: 'abort.siblingError' }),
    }
    for (const [state, prepare] of Object.entries(before)) {
      const parts = turn()
      const { add, executor, read, write } = parts
      add('x', 'Nope')
      add('r', 'Read')
      add('w', 'Write')
      prepare(parts)
      expect(chartValue(executor).run).toBe(state)
      executor.discard()
      expect(chartValue(executor).run).toBe('discarded')
      expect(read.run('r').context.abortController.signal.aborted).toBe(true)
      add('later', 'Read')
      executor.actor.send({ type: 'results.take' })
      read.run('r').finish()
      await flush()
      expect(takeAll(executor).map(resultOf)).toEqual([])
      expect([stateOf(executor, 'x'), stateOf(executor, 'later'), write.started]).toEqual(['completed', 'none', []])
      expect(chartValue(executor).gate).toBe('open')
    }
  },
}
