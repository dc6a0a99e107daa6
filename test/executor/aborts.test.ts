import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type CanUseTool, StreamingToolExecutor } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, resultOf, stateOf, takeReady, testTurn } from '../support/turn.ts'

const failure = new Error('exit 1')
const siblingText = '<tool_use_error>Cancelled: parallel tool call Bash(npm test) errored</tool_use_error>'
const stopped = 'The user stopped this call, and nothing more was done. Wait for the next message from the user.'
const neverStarted =
  'This call was cancelled before it started: the user stopped the turn. Wait for the next message from the user.'

const bashAndRead = () => {
  const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
  const read = heldTool('Read', { safe: true, obedient: true })
  return { bash, read, tools: [bash.tool, read.tool] }
}

describe('precedence', () => {
  it('A1 sibling_error wins over user_interrupted, streaming_fallback over both', async () => {
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true, mapResult: () => Object.freeze(failing) })
    const failing = { type: 'tool_result' as const, tool_use_id: '', content: 'exit 1', is_error: true }
    const stubborn = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([bash.tool, stubborn.tool])
    add('r', 'Read')
    add('b', 'Bash', { command: 'npm test' })
    executor.abort('interrupt')
    expect(chartValue(executor).run).toBe('interrupted')
    bash.run('b').finish()
    await flush()
    expect(chartValue(executor).run).toBe('siblingErrored')
    executor.abort('escape')
    expect(chartValue(executor).run).toBe('siblingErrored')
    stubborn.run('r').finish()
    await flush()
    expect(takeReady(executor)[0]).toEqual([
      'r',
      siblingText.replace(
        ' errored<',
        ' errored It returned after it was told to stop. It may have done all or part of its work.\nIts output so far:\nr done<',
      ),
    ])
    executor.discard()
    expect(chartValue(executor).run).toBe('discarded')
    executor.abort('escape')
    expect(chartValue(executor).run).toBe('discarded')
  })

  it('A1 a call that was stopped by the user and then by a sibling reports the stronger reason', async () => {
    const { add, executor } = testTurn([heldTool('Read', { safe: true }).tool])
    add('r', 'Read')
    executor.abort('escape')
    executor.actor.send({ type: 'abort.siblingError', description: 'Bash(npm test)' })
    expect(chartValue(executor).run).toBe('siblingErrored')
    const [call] = executor.actor.getSnapshot().context.run.calls
    expect(call?.ref?.getSnapshot().context.cause).toMatchObject({ kind: 'sibling_error' })
  })
})

describe('sibling errors', () => {
  it('A2 every other call gets the sibling text: executing, queued and added later; the one that failed keeps its own', async () => {
    const { bash, read, tools } = bashAndRead()
    const write = heldTool('Write')
    const { add, executor, host } = testTurn([...tools, write.tool])
    add('r', 'Read')
    add('b', 'Bash', { command: 'npm test' })
    add('w', 'Write')
    bash.run('b').fail(failure)
    await flush()
    expect(read.run('r').context.abortController.signal.reason).toBe('sibling_error')
    add('late', 'Read')
    const contents = Object.fromEntries((await drain(executor)).map(resultOf).map((b) => [b.tool_use_id, b.content]))
    expect(contents).toMatchObject({ r: siblingText, w: siblingText, late: siblingText })
    expect(contents.b).toContain('<tool_use_error>Error: exit 1')
    expect([write.started, read.started]).toEqual([[], ['r']])
    expect(host.signal.aborted).toBe(false)
  })

  it('A2 T5 a call that was told to stop and then fails cancels no call', async () => {
    const { bash, read, tools } = bashAndRead()
    const { add, executor } = testTurn(tools)
    add('b', 'Bash', {}, { hold: false })
    executor.abort('escape')
    bash.run('b').fail(failure)
    await flush()
    expect(chartValue(executor).run).toBe('aborted')
    expect(read.started).toEqual([])
  })

  it('A2 invalid input and a timeout are errors of the call; a denial is not', async () => {
    const bash = heldTool('Bash', { cancelsSiblingsOnError: true, timeout: 100 })
    const invalid = testTurn([bash.tool])
    invalid.add('b', 'Bash', 'no object')
    expect(chartValue(invalid.executor).run).toBe('siblingErrored')

    const slow = testTurn([bash.tool])
    slow.add('b', 'Bash')
    slow.clock.increment(100)
    slow.clock.increment(5_000)
    expect(chartValue(slow.executor).run).toBe('siblingErrored')

    const denied = testTurn([bash.tool], { canUseTool: () => ({ behavior: 'deny', message: 'no' }) })
    denied.add('b', 'Bash')
    expect(chartValue(denied.executor).run).toBe('clear')
    expect(takeReady(denied.executor)).toEqual([['b', '<tool_use_error>no</tool_use_error>']])
  })
})

describe('the user interrupts', () => {
  it("A3 'interrupt' reaches only cancel calls: running block calls go on, queued ones still run", async () => {
    const search = heldTool('Search', { safe: true, cancel: true, obedient: true })
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const cancelled = heldTool('Fetch', { cancel: true })
    const { add, executor, host } = testTurn([search.tool, read.tool, write.tool, cancelled.tool])
    add('s', 'Search')
    add('r', 'Read')
    add('w', 'Write')
    add('f', 'Fetch')
    host.abort('interrupt')
    await flush()
    expect(chartValue(executor).run).toBe('interrupted')
    expect(search.run('s').context.abortController.signal.reason).toBe('interrupt')
    expect(read.run('r').context.abortController.signal.aborted).toBe(false)
    read.run('r').finish()
    await flush()
    write.run('w').finish()
    add('later', 'Search')
    const contents = (await drain(executor)).map((update) => resultOf(update).content)
    expect(contents).toEqual([stopped, 'r done', 'w done', neverStarted, neverStarted])
    expect(cancelled.started).toEqual([])
  })

  it('A1 T5 after an interrupt, a failure still cancels the calls that it names, also those added later', async () => {
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: (_, { name }) => name === 'Read' })
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { add, executor } = testTurn([bash.tool, read.tool, write.tool])
    add('b', 'Bash', { command: 'npm test' })
    executor.abort('interrupt')
    bash.run('b').fail(failure)
    await flush()
    expect(chartValue(executor).run).toBe('interrupted')
    add('r', 'Read')
    add('w', 'Write')
    await flush()
    expect([read.started, write.started]).toEqual([[], ['w']])
    expect(takeReady(executor).find(([id]) => id === 'r')?.[1]).toBe(siblingText)
  })

  it("A3 'interrupt' ends a question whatever the behaviour, and a later answer is ignored", async () => {
    const write = heldTool('Write')
    let answer: (() => void) | undefined
    const canUseTool: CanUseTool = () =>
      new Promise((resolve) => {
        answer = () => resolve({ behavior: 'allow' })
      })
    const { add, executor } = testTurn([write.tool], { canUseTool })
    add('w', 'Write')
    executor.abort('interrupt')
    expect(takeReady(executor)).toEqual([['w', stopped]])
    answer?.()
    await flush()
    expect(write.started).toEqual([])
  })

  it("A3 a host that aborted with 'interrupt' is heard once: a question that opens later stays open", async () => {
    const write = heldTool('Write')
    const host = new AbortController()
    const answers: (() => void)[] = []
    const canUseTool: CanUseTool = () =>
      new Promise((resolve) => void answers.push(() => resolve({ behavior: 'allow' })))
    host.abort('interrupt')
    const { add } = testTurn([write.tool], { canUseTool, context: { abortController: host } })
    add('w', 'Write')
    await flush()
    add('x', 'Write')
    answers[0]?.()
    await flush()
    expect(write.started).toEqual(['w'])
    write.run('w').finish()
  })

  it('A4 any other reason answers every call that is not completed', async () => {
    const read = heldTool('Read', { safe: true, obedient: true })
    const write = heldTool('Write')
    const { add, executor, host } = testTurn([read.tool, write.tool])
    add('done', 'Read')
    add('runs', 'Read')
    add('waits', 'Write')
    read.run('done').finish()
    await flush()
    const reason = new Error('escape')
    host.abort(reason)
    add('later', 'Read')
    expect(read.run('runs').context.abortController.signal.reason).toBe(reason)
    const results = await drain(executor)
    expect(results.map((update) => resultOf(update).content)).toEqual([
      'done done',
      stopped,
      neverStarted,
      neverStarted,
    ])
    expect(results.map(({ message }) => message.type === 'user' && message.toolUseResult)).toEqual([
      'done done',
      'User rejected tool use',
      'Cancelled before it started',
      'Cancelled before it started',
    ])
  })

  it("A4 abort() may follow an 'interrupt' with a stronger reason", async () => {
    const read = heldTool('Read', { safe: true, obedient: true })
    const { add, executor, host } = testTurn([read.tool])
    add('r', 'Read')
    host.abort('interrupt')
    expect(stateOf(executor, 'r')).toBe('executing')
    executor.abort('escape')
    expect(read.run('r').context.abortController.signal.reason).toBe('escape')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([stopped])
  })
})

describe('discard', () => {
  it('A5 nothing starts, running signals abort, readers end at once, and it returns the calls that had run', async () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { add, executor, host } = testTurn([read.tool, write.tool])
    add('done', 'Read')
    add('runs', 'Read')
    add('waits', 'Write')
    read.run('done').finish()
    await flush()
    const reader = drain(executor)
    await flush()
    expect(executor.discard()).toEqual([
      { id: 'done', name: 'Read', started: true, completed: true },
      { id: 'runs', name: 'Read', started: true, completed: false },
      { id: 'waits', name: 'Write', started: false, completed: false },
    ])
    expect(executor.discard()[2]).toEqual({ id: 'waits', name: 'Write', started: false, completed: false })
    // the reader had taken what was ready before
    expect((await reader).map((update) => resultOf(update).tool_use_id)).toEqual(['done'])
    expect(read.run('runs').context.abortController.signal.reason).toBe('streaming_fallback')
    read.run('runs').finish()
    add('later', 'Read')
    await flush()
    expect([...executor.getCompletedResults()]).toEqual([])
    expect(read.started).toEqual(['done', 'runs'])
    expect(write.started).toEqual([])
    expect(host.signal.aborted).toBe(false)
  })
})

describe('a call that stops the turn', () => {
  it("A6 deny with interrupt keeps the host's message and aborts the query controller", async () => {
    const write = heldTool('Write')
    const { add, executor, host } = testTurn([write.tool], {
      canUseTool: () => ({ behavior: 'deny', message: 'Stop here.', interrupt: true }),
    })
    add('a', 'Write')
    add('b', 'Write')
    expect(host.signal.reason).toBe('permission_stop')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([
      '<tool_use_error>Stop here.</tool_use_error>',
      neverStarted,
    ])
  })

  it('A6 deny with interrupt: no waiting call begins before the turn stops', async () => {
    const asked: string[] = []
    let answer: (() => void) | undefined
    const { add, executor } = testTurn([heldTool('Write').tool], {
      canUseTool: (_tool, _input, _context, _message, id) => {
        asked.push(id)
        return new Promise((resolve) => {
          answer ??= () => resolve({ behavior: 'deny', message: 'no', interrupt: true })
        })
      },
    })
    add('a', 'Write')
    add('b', 'Write')
    answer?.()
    await flush()
    expect(asked).toEqual(['a'])
    expect(takeReady(executor).at(-1)).toEqual(['b', neverStarted])
  })

  it('A6 not after a discard', async () => {
    let answer: (() => void) | undefined
    const { add, executor, host } = testTurn([heldTool('Write').tool], {
      canUseTool: () =>
        new Promise((resolve) => {
          answer = () => resolve({ behavior: 'deny', message: 'no', interrupt: true })
        }),
    })
    add('a', 'Write')
    executor.discard()
    answer?.()
    await flush()
    expect(host.signal.aborted).toBe(false)
  })

  it('A6 a body that aborts its own controller stops the turn with its reason', async () => {
    const read = heldTool('Read', { safe: true, obedient: true })
    const { add, executor, host } = testTurn([read.tool])
    add('a', 'Read')
    add('b', 'Read')
    read.run('a').context.abortController.abort('gave up')
    expect(host.signal.reason).toBe('gave up')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([stopped, stopped])
  })

  it("A6 neither a sibling's error nor a parent's abort reaches the host's controller", async () => {
    const { bash, tools } = bashAndRead()
    const { add, host } = testTurn(tools)
    add('r', 'Read')
    add('b', 'Bash')
    bash.run('b').fail(failure)
    await flush()
    expect(host.signal.aborted).toBe(false)
  })
})

describe('grace', () => {
  it.each([
    [
      'that it was cut short',
      { data: 'half', interrupted: true },
      ' It was stopped before it finished; the effects it had until then remain.\nIts output so far:\nhalf',
    ],
    [
      'that it had finished',
      { data: 'all', interrupted: false },
      ' It had already finished, so its effects remain.\nIts output so far:\nall',
    ],
    [
      'nothing of it, so neither is claimed',
      { data: undefined },
      ' It returned after it was told to stop. It may have done all or part of its work.',
    ],
  ])('A7 W8 the return value of a body after the abort is replaced, and the model gets the body’s own statement: %s', async (_, result, told) => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool])
    add('r', 'Read')
    executor.abort('escape')
    expect(stateOf(executor, 'r')).toBe('executing')
    read.run('r').finish(result)
    await flush()
    expect(takeReady(executor)).toEqual([
      ['r', `The user stopped this call. Wait for the next message from the user.${told}`],
    ])
  })

  it('A7 W8 P9 the output of a stopped call is left out if a hook would have had to see it first', async () => {
    const read = heldTool('Read', { safe: true })
    const hooks = { PostToolUse: [{ hooks: [async () => ({})] }] }
    const { add, executor } = testTurn([read.tool], { context: { hooks } })
    add('r', 'Read')
    await flush()
    executor.abort('escape')
    read.run('r').finish({ data: 'secret', interrupted: true })
    await flush()
    const [[, content] = []] = takeReady(executor)
    expect(content).toMatch(/stopped before it finished; the effects it had until then remain\.$/)
  })

  it('A7 a body that ignores its signal is abandoned after the grace period, frees the gate and is reported; its late messages are counted', async () => {
    const write = heldTool('Write', { cancel: true })
    const block = heldTool('Edit')
    const { add, executor, clock } = testTurn([write.tool, block.tool], { abortGraceMs: 50 })
    const warnings: [string, number][] = []
    const words: string[] = []
    executor.on('warning', ({ code, count, message }) => {
      warnings.push([code, count])
      words.push(message)
    })
    add('stuck', 'Write')
    add('next', 'Edit')
    executor.abort('interrupt')
    clock.increment(49)
    expect([chartValue(executor).gate, block.started]).toEqual(['exclusive', []])
    clock.increment(1)
    expect(block.started).toEqual(['next'])
    expect(takeReady(executor)[0]?.[1]).toContain('It did not stop when told to')
    write.run('stuck').progress('still here')
    write.run('stuck').finish()
    await flush()
    expect(warnings).toEqual([
      ['abandoned', 1],
      ['late', 1],
      ['late', 2],
    ])
    expect(words.slice(1)).toEqual([expect.stringContaining('progress came'), expect.stringContaining('a result came')])
  })

  it('A7 a timeout uses the same grace period, and is an error of the call', async () => {
    const read = heldTool('Read', { safe: true, timeout: { totalMs: 100, idleMs: 30 } })
    const { add, executor, clock } = testTurn([read.tool], { abortGraceMs: 50 })
    add('idle', 'Read')
    add('total', 'Read')
    for (let n = 0; n < 5; n++) {
      clock.increment(20)
      read.run('total').progress(n)
    }
    expect(read.run('idle').context.abortController.signal.reason).toBe('timeout')
    clock.increment(50)
    const contents = takeReady(executor).map(([, content]) => content)
    expect(contents[0]).toContain('no progress for 30 ms')
    expect(contents[1]).toContain('longer than 100 ms')
  })

  it('A7 once the body has settled, an abort keeps the outcome', async () => {
    const read = heldTool('Read', {
      safe: true,
      mapResult: (data, id) => {
        executor.abort('escape')
        return { type: 'tool_result', tool_use_id: id, content: `mapped ${data}` }
      },
    })
    const { add, executor } = testTurn([read.tool])
    add('r', 'Read')
    read.run('r').finish()
    await flush()
    expect(chartValue(executor).run).toBe('aborted')
    expect(takeReady(executor)).toEqual([['r', 'mapped r done']])
  })
})

describe('at any time', () => {
  it.each([
    [undefined],
    ['escape'],
    [null],
    [0],
    [new Error('x')],
  ])('A8 an abort with reason %s, before addTool, twice, after the end', async (reason) => {
    const read = heldTool('Read', { safe: true })
    const { add, executor, host } = testTurn([read.tool])
    host.abort(reason)
    host.abort(reason)
    executor.abort(reason)
    add('a', 'Read')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([neverStarted])
    executor.abort(reason)
    expect(await drain(executor)).toEqual([])
    expect(read.started).toEqual([])
  })

  it('A8 a parent that is already aborted', async () => {
    const host = new AbortController()
    host.abort()
    const { add, executor } = testTurn([heldTool('Read').tool], { context: { abortController: host } })
    add('a', 'Read')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([neverStarted])
  })

  it("A8 an abort of the host's controller by a body that is starting is not missed", async () => {
    const host = new AbortController()
    const read = heldTool('Read', { safe: true, obedient: true })
    const call = read.tool.call
    read.tool.call = (...args) => {
      const running = call(...args)
      host.abort('at once')
      return running
    }
    const { add, executor } = testTurn([read.tool], { context: { abortController: host } })
    add('a', 'Read')
    expect((await drain(executor)).map((update) => resultOf(update).content)).toEqual([stopped])
  })

  it('A9 one listener on the host for any number of calls, and none afterwards', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor, host } = testTurn([read.tool], { maxConcurrency: 100 })
    for (let n = 0; n < 100; n++) add(`r${n}`, 'Read')
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(1)
    for (let n = 0; n < 100; n++) read.run(`r${n}`).finish()
    await drain(executor)
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(0)
  })

  it('A9 no listener is left by an abort, a discard, or calls that never ran', async () => {
    const host = new AbortController()
    const executors = Array.from(
      { length: 50 },
      () => new StreamingToolExecutor([], undefined, { abortController: host }),
    )
    for (const executor of executors) {
      executor.addTool({ type: 'tool_use', id: 'x', name: 'Nope', input: {} }, testTurn([]).message)
      executor.discard()
    }
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(0)
  })
})
