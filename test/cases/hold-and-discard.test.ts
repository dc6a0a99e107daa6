import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, stateOf, takeAll, takeReady, testTurn } from '../support/turn.ts'
import { expectNoStrays, expectPaired, idsOf, limitSteps, outcomes } from './support.ts'

expectNoStrays()

describe('discard', () => {
  it('A5 returns the calls that had already run, so that a fallback does not repeat them (openclaw#43482)', async () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { executor, add } = testTurn([read.tool, write.tool])
    add('yielded', 'Read')
    add('running', 'Read')
    add('completed', 'Read')
    add('unknown', 'Nope')
    add('queued', 'Write')
    add('held', 'Write', {}, { hold: true })
    read.run('yielded').finish()
    read.run('completed').finish()
    await flush()
    expect(takeReady(executor)).toHaveLength(1)
    expect(executor.discard()).toEqual([
      { id: 'yielded', name: 'Read', started: true, completed: true },
      { id: 'running', name: 'Read', started: true, completed: false },
      { id: 'completed', name: 'Read', started: true, completed: true },
      { id: 'unknown', name: 'Nope', started: false, completed: true },
      { id: 'queued', name: 'Write', started: false, completed: false },
      { id: 'held', name: 'Write', started: false, completed: false },
    ])
  })

  it('A5 Y6 nothing starts and no result is delivered after it; running calls are aborted, the query is not', async () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write')
    const { signal } = write.run('a').context.abortController
    write.run('a').progress('unread')
    executor.discard()
    expect(signal.reason).toBe('streaming_fallback')
    expect(host.signal.aborted).toBe(false)
    write.run('a').progress('late')
    write.run('a').finish()
    expect(await outcomes(executor)).toEqual([])
    expect(await drain(executor)).toEqual([])
    expect(write.started).toEqual(['a'])
  })

  it('A5 a sleeping reader is woken and its generator ends', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write')
    const reading = drain(executor)
    await flush()
    executor.discard()
    expect(await reading).toEqual([])
  })

  it('A5 a body that ignores the discard is abandoned after its grace period and yields nothing', async () => {
    const write = heldTool('Write')
    const { executor, add, clock } = testTurn([write.tool])
    add('a', 'Write')
    executor.discard()
    clock.increment(5_000)
    expect(chartValue(executor).gate).toBe('open')
    write.run('a').fail(new Error('too late'))
    expect(await outcomes(executor)).toEqual([])
  })

  it('A5 Q4 waiting calls are discarded, and none of them starts', () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('running', 'Write')
    add('queued', 'Write')
    executor.discard()
    add('late', 'Write')
    const givenUp = { ok: false, because: 'discarded', blockers: [] }
    expect(executor.explain('queued')).toEqual(givenUp)
    expect(executor.explain('late')?.ok).not.toBe(true)
  })

  it('A5 twice: the second call changes nothing and returns the same', () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write')
    expect(executor.discard()).toEqual(executor.discard())
  })

  it('A1 an abort after the discard produces no results', async () => {
    const write = heldTool('Write')
    const { executor, add, host } = testTurn([write.tool])
    add('a', 'Write')
    executor.discard()
    executor.abort('escape')
    host.abort('escape')
    expect(write.run('a').context.abortController.signal.reason).toBe('streaming_fallback')
    expect(await outcomes(executor)).toEqual([])
  })

  it('A5 Y8 clears both indicators of the host', () => {
    let ids = new Set<string>()
    const interruptible: boolean[] = []
    const fetch = heldTool('Fetch', { safe: true, cancel: true })
    const { executor, add } = testTurn([fetch.tool], {
      context: {
        setInProgressToolUseIDs: (update) => (ids = update(ids)),
        setHasInterruptibleToolInProgress: (value) => interruptible.push(value),
      },
    })
    add('a', 'Fetch')
    add('b', 'Fetch')
    expect(ids).toEqual(new Set(['a', 'b']))
    executor.discard()
    expect(ids).toEqual(new Set())
    expect(interruptible).toEqual([true, false])
  })

  it('A5 a call that is added after it never runs and gets no result', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    executor.discard()
    expect(add('a', 'Write').id).toBe('a')
    expect(await outcomes(executor)).toEqual([])
    expect(await drain(executor)).toEqual([])
    expect(write.started).toEqual([])
  })

  it('A5 Q7 a held call that is added after it cannot be released, and the gate stays open', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    executor.discard()
    limitSteps(executor, 100)
    add('a', 'Write', {}, { hold: true })
    const released = executor.release('a')
    await flush()
    expect(write.started).toEqual([])
    expect(chartValue(executor)).toEqual({ gate: 'open', run: 'discarded' })
    expect(released).toBe(false)
  })
})

describe('a call of a discarded run', () => {
  it('A5 is discarded, finished or not, and is not reported as waiting', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool, heldTool('Write').tool])
    add('first', 'Read')
    add('finished', 'Read')
    add('waits', 'Write')
    read.run('finished').finish()
    await flush()
    expect(executor.explain('finished')).toBeUndefined()
    executor.discard()
    add('late', 'Read')
    const givenUp = { ok: false, because: 'discarded', blockers: [] }
    for (const id of ['first', 'finished', 'waits', 'late']) expect(executor.explain(id)).toEqual(givenUp)
    expect(executor.explain('nobody')).toBeUndefined()
  })

  it('A5 keeps the results that were handed over', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    read.run('a').finish()
    await flush()
    takeAll(executor)
    executor.discard()
    expect(executor.explain('a')).toBeUndefined()
  })
})

describe('hold and release', () => {
  it('Q5 a held call starts when it is released and not before', () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write', {}, { hold: true })
    expect(stateOf(executor, 'a')).toBe('queued')
    expect(executor.release('a')).toBe(true)
    expect(stateOf(executor, 'a')).toBe('executing')
    expect(write.started).toEqual(['a'])
  })

  it('Q5 nothing overtakes a held unsafe call, anything overtakes a held safe one', () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { executor, add } = testTurn([read.tool, write.tool])
    add('held read', 'Read', {}, { hold: true })
    add('read', 'Read')
    add('held write', 'Write', {}, { hold: true })
    add('read behind', 'Read')
    expect(read.started).toEqual(['read'])
    expect(executor.explain('read behind')).toEqual({ ok: false, because: 'behindUnsafe', blockers: ['held write'] })
  })

  it('Q5 release returns false for calls that are not held: unknown, running, already released', () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    add('a', 'Write')
    add('b', 'Write', {}, { hold: true })
    executor.release('b')
    expect([executor.release('nobody'), executor.release('a'), executor.release('b')]).toEqual([false, false, false])
  })

  it('Y6 A4 after a stream fails, its held call is answered and does not run (pydantic-ai#3118)', async () => {
    const write = heldTool('Write')
    const { executor, add, message } = testTurn([write.tool])
    add('a', 'Write', {}, { hold: true })
    executor.abort('stream died')
    expect(executor.release('a')).toBe(false)
    const updates = await drain(executor)
    expectPaired(message, idsOf(updates))
    expect(write.started).toEqual([])
  })

  it('Q5 a held call with a bad input or an unknown name is answered in its turn', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Nope', {}, { hold: true })
    add('b', 'Read', 'nonsense', { hold: true })
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a'])
    executor.release('b')
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['b'])
  })
})
