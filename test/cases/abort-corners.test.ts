import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, stateOf, testTurn } from '../support/turn.ts'
import { done, expectNoStrays, expectPaired, idsOf, onlyOutcome, outcomes, roughTool } from './support.ts'

expectNoStrays()

describe('when an abort comes', () => {
  it('A8 before the first call: calls are answered, nothing runs', async () => {
    const write = heldTool('Write')
    const { executor, add, message } = testTurn([write.tool])
    executor.abort('escape')
    add('a', 'Write')
    add('b', 'Nope')
    expectPaired(message, idsOf(await drain(executor)))
    expect(write.started).toEqual([])
  })

  it('A8 on an executor without calls: its generators end', async () => {
    const { executor } = testTurn([])
    executor.abort('escape')
    expect(await drain(executor)).toEqual([])
  })

  it('A8 P1 a parent that is already aborted: the call is answered, its reason is kept', async () => {
    const host = new AbortController()
    host.abort('long ago')
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool], { context: { abortController: host } })
    add('a', 'Write')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
    expect(write.started).toEqual([])
  })

  it('A8 A3 a parent already aborted with an interrupt: calls that block still run, the others do not', async () => {
    const host = new AbortController()
    host.abort('interrupt')
    const fetch = heldTool('Fetch', { cancel: true })
    const write = heldTool('Write')
    const { executor, add } = testTurn([fetch.tool, write.tool], { context: { abortController: host } })
    add('a', 'Fetch')
    add('b', 'Write')
    expect(fetch.started).toEqual([])
    write.run('b').finish()
    const results = await outcomes(executor)
    expect(results.map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', false],
    ])
  })

  it('A8 twice, by the executor and by the host: the first reason stays, and there is one result', async () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    add('a', 'Write')
    executor.abort('first')
    executor.abort('second')
    host.abort('third')
    expect(write.run('a').context.abortController.signal.reason).toBe('first')
    write.run('a').fail(new Error('stopped'))
    await onlyOutcome(executor)
    expect(await outcomes(executor)).toEqual([])
  })

  it('A4 a stronger reason may follow an interrupt, and ends the calls that the interrupt did not stop', async () => {
    const write = heldTool('Write', { obedient: true })
    const { executor, add, host, message } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write')
    host.abort('interrupt')
    await flush()
    expect(stateOf(executor, 'a')).toBe('executing')
    executor.abort('escape')
    const results = await outcomes(executor)
    expectPaired(
      message,
      results.map(({ id }) => id),
    )
    expect(results.every(({ isError }) => isError)).toBe(true)
    expect(write.started).toEqual(['a'])
  })

  it('A4 an interrupt after a stronger reason changes nothing', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    executor.abort('escape')
    executor.abort('interrupt')
    add('a', 'Write')
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
    expect(write.started).toEqual([])
  })

  it('A8 after the end: results that were handed over stay the same, later calls are answered', async () => {
    const { executor, add, host } = testTurn([roughTool('Read', done)])
    add('a', 'Read')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: false })
    host.abort('escape')
    expect(await outcomes(executor)).toEqual([])
    add('b', 'Read')
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'b', isError: true })
  })

  it('A4 a call that had completed keeps its result, read or not', async () => {
    const read = heldTool('Read', { safe: true, obedient: true })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    add('b', 'Read')
    read.run('b').finish()
    await flush()
    executor.abort('escape')
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', false],
    ])
  })
})

describe('calls that begin after the stop', () => {
  it('A8 start aborted, and their bodies never run (hermes-agent PR#110505)', async () => {
    let pass = (_: boolean): void => undefined
    const signals: AbortSignal[] = []
    const slow = heldTool('Slow', {
      inputSchema: z.looseObject({}).refine(() => new Promise<boolean>((resolve) => (pass = resolve))),
      validateInput: (_, { abortController }) => {
        signals.push(abortController.signal)
        return { result: true }
      },
    })
    const { executor, add } = testTurn([slow.tool])
    add('a', 'Slow')
    await flush()
    executor.abort('escape')
    pass(true)
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: true })
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    expect(slow.started).toEqual([])
  })
})

describe('with odd reasons', () => {
  const reasons: [string, unknown][] = [
    ['null', null],
    ['a number', 0],
    ['an empty string', ''],
    ['a symbol', Symbol('stop')],
    ['an object without prototype', Object.create(null)],
    ['a frozen object', Object.freeze({ because: 'I say so' })],
    [
      'an object whose getters throw',
      {
        get message() {
          throw new Error('getter')
        },
      },
    ],
    ['a function', () => 'interrupt'],
  ]

  it.each(reasons)('A8 by the executor, with %s', async (_, reason) => {
    const write = heldTool('Write', { obedient: true })
    const { executor, add, message } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write')
    executor.abort(reason)
    expect(write.run('a').context.abortController.signal.reason).toBe(reason)
    expectPaired(
      message,
      (await outcomes(executor)).map(({ id }) => id),
    )
    expect(chartValue(executor)).toEqual({ gate: 'open', run: 'aborted' })
  })

  it.each(reasons)('A8 by the host, with %s', async (_, reason) => {
    const write = heldTool('Write', { obedient: true })
    const { executor, add, host, message } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write')
    host.abort(reason)
    expect(write.run('a').context.abortController.signal.reason).toBe(reason)
    expectPaired(
      message,
      (await outcomes(executor)).map(({ id }) => id),
    )
  })

  it('A8 without a reason, the signal is still aborted', async () => {
    const write = heldTool('Write', { obedient: true })
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write')
    executor.abort()
    expect(write.run('a').context.abortController.signal.aborted).toBe(true)
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
  })
})

describe('by a call itself', () => {
  it('A6 a body that aborts its own controller ends the turn and aborts the controller of the query', async () => {
    const write = heldTool('Write', { obedient: true })
    const { executor, add, host, message } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write')
    write.run('a').context.abortController.abort('I give up')
    expect(host.signal.aborted).toBe(true)
    expectPaired(
      message,
      (await outcomes(executor)).map(({ id }) => id),
    )
    expect(write.started).toEqual(['a'])
  })

  it('A6 after a discard it does not end the turn', () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    add('a', 'Write')
    executor.discard()
    write.run('a').context.abortController.abort('I give up')
    expect(host.signal.aborted).toBe(false)
  })

  it('A6 after its own result it does not end the turn', async () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    add('a', 'Write')
    write.run('a').finish()
    await onlyOutcome(executor)
    write.run('a').context.abortController.abort('cleaning up')
    expect(host.signal.aborted).toBe(false)
  })
})
