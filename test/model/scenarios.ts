import { expect } from 'vitest'
import type { PermissionAnswer } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, resultOf, settled, stateOf, takeAll, takeReady, testTurn } from '../support/turn.ts'

const turn = (options: Parameters<typeof testTurn>[1] = {}) => {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  const search = heldTool('Search', { safe: true, cancel: true })
  const fetch = heldTool('Fetch', { cancel: true })
  const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
  const strict = heldTool('Strict', {
    cancel: true,
    cancelsSiblingsOnError: true,
    validateInput: (input) =>
      new Promise((resolve) => {
        verdicts.push(() => resolve('bad' in input ? { result: false, message: 'bad' } : { result: true }))
      }),
  })
  const verdicts: (() => void)[] = []
  const tools = [read, write, search, fetch, bash, strict].map(({ tool }) => tool)
  return { ...testTurn(tools, options), read, write, search, fetch, bash, strict, verdicts }
}

const asking = () => {
  const answers = new Map<string, (answer: PermissionAnswer) => void>()
  const parts = turn({
    canUseTool: (_tool, _input, _context, _message, id) => new Promise((resolve) => answers.set(id, resolve)),
  })
  return { ...parts, answer: (id: string, answer: PermissionAnswer) => answers.get(id)?.(answer) }
}

const ids = (results: [string, unknown][]) => results.map(([id]) => id)

/**
 * What a host can see of the rules, without ever waiting for something that might not come: each scenario ends by
 * itself, whatever is wrong with the charts.
 */
export const scenarios: Record<string, () => Promise<void>> = {
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
  async 'a phase with nothing to do is stepped over'() {
    const { add, read, strict, verdicts, executor } = turn()
    add('r', 'Read')
    add('v', 'Strict', {}, { hold: true })
    const phases: unknown[] = []
    for (const { ref } of executor.actor.getSnapshot().context.run.calls) {
      ref?.subscribe(({ value }: { value: unknown }) => phases.push(value))
    }
    read.run('r').finish()
    await settled()
    executor.release('v')
    verdicts[0]?.()
    await settled()
    expect(strict.started).toEqual(['v'])
    expect(phases).toEqual(['completed', { executing: 'validating' }, { executing: 'calling' }])
  },
  async 'validation: accepted, vetoed, and ended from outside'() {
    const { add, strict, verdicts, executor } = turn()
    add('ok', 'Strict')
    expect(strict.started).toEqual([])
    verdicts[0]?.()
    await settled()
    expect(strict.started).toEqual(['ok'])
    strict.run('ok').finish()
    await settled()
    expect(ids(takeReady(executor))).toEqual(['ok'])
    add('bad', 'Strict', { bad: true })
    verdicts[1]?.()
    await settled()
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
      await settled()
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
    await settled()
    expect([asked, block.started]).toEqual([1, []])
  },
  async 'permission: asked before the body runs; allowed, denied, rewritten'() {
    const { add, answer, write, executor } = asking()
    add('a', 'Write')
    expect(write.started).toEqual([])
    answer('a', { behavior: 'allow' })
    await settled()
    expect(write.started).toEqual(['a'])
    write.run('a').finish()
    await settled()
    add('d', 'Write')
    answer('d', { behavior: 'deny', message: 'no' })
    await settled()
    expect(takeReady(executor)).toEqual([
      ['a', 'a done'],
      ['d', '<tool_use_error>no</tool_use_error>'],
    ])
    expect(chartValue(executor)).toEqual({ gate: 'open', run: 'clear' })
    add('u', 'Write')
    answer('u', { behavior: 'allow', updatedInput: 'no object' as never })
    await settled()
    expect(takeReady(executor)[0]?.[1]).toContain('no longer fits')
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
      await settled()
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
    await settled()
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
    await settled()
    expect([edit.started, questions, chartValue(executor).gate]).toEqual([['a', 'b'], 2, 'exclusive'])
  },
  async 'permission: abort and interrupt end the question'() {
    for (const reason of ['escape', 'interrupt']) {
      const { add, answer, write, executor } = asking()
      add('a', 'Write')
      executor.abort(reason)
      expect(ids(takeReady(executor))).toEqual(['a'])
      answer('a', { behavior: 'allow' })
      await settled()
      expect(write.started).toEqual([])
    }
  },
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
    read.run('quick').finish()
    await settled()
    expect(takeReady(executor)[0]?.[1]).toContain('effects stand')
    clock.increment(5_000)
    expect([ids(takeReady(executor)), chartValue(executor).gate]).toEqual([['stuck'], 'open'])
  },
  async 'a stronger reason overtakes a weaker one while a body stops'() {
    const { add, executor, clock, bash } = turn()
    add('s', 'Search')
    add('b', 'Bash')
    executor.abort('interrupt')
    bash.run('b').fail('no')
    await settled()
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
        await settled()
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
    await settled()
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
    await settled()
    expect(write.started).toEqual(['w'])
    write.run('w').finish()
    await settled()
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
    await settled()
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
      await settled()
      expect(chartValue(executor).run).toBe('siblingErrored')
      add('later', 'Read')
      clock.increment(5_000)
      await settled()
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
    await settled()
    expect([chartValue(executor).run, read.run('r').context.abortController.signal.aborted]).toEqual(['clear', false])
    read.run('r').finish()
    await settled()
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
      await settled()
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
      await settled()
      expect(takeAll(executor).map(resultOf)).toEqual([])
      expect([stateOf(executor, 'x'), stateOf(executor, 'later'), write.started]).toEqual(['completed', 'none', []])
      expect(chartValue(executor).gate).toBe('open')
    }
  },
}
