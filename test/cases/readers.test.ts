import { describe, expect, it } from 'vitest'
import type { MessageUpdate } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, stateOf, takeReady, testTurn } from '../support/turn.ts'
import { done, expectNoStrays, idsOf, outcomes, progressOf, roughTool } from './support.ts'

expectNoStrays()

const threeDone = async () => {
  const turn = testTurn([roughTool('Read', done, { isConcurrencySafe: () => true })])
  for (const id of ['a', 'b', 'c']) turn.add(id, 'Read')
  await flush()
  return turn
}

describe('readers that leave', () => {
  it('Y5 by a break: the next reader gets the remaining messages', async () => {
    const { executor } = await threeDone()
    const taken: MessageUpdate[] = []
    for await (const update of executor.getRemainingResults()) {
      taken.push(update)
      break
    }
    expect(idsOf(taken)).toEqual(['a'])
    expect(idsOf(await drain(executor))).toEqual(['b', 'c'])
  })

  it('Y5 by a break out of the synchronous generator', async () => {
    const { executor } = await threeDone()
    for (const _ of executor.getCompletedResults()) break
    expect(takeReady(executor).map(([id]) => id)).toEqual(['b', 'c'])
  })

  it('Y5 by a throw inside its loop', async () => {
    const { executor } = await threeDone()
    const reading = async () => {
      for await (const _ of executor.getRemainingResults()) throw new Error('the reader broke')
    }
    await expect(reading()).rejects.toThrow('the reader broke')
    expect(idsOf(await drain(executor))).toEqual(['b', 'c'])
  })

  it('Y5 by throw(): the error is rethrown to the caller, and the generator has ended', async () => {
    const { executor } = await threeDone()
    const reader = executor.getRemainingResults()
    await reader.next()
    const error = new Error('into the generator')
    await expect(reader.throw(error)).rejects.toBe(error)
    expect(await reader.next()).toEqual({ done: true, value: undefined })
    expect(idsOf(await drain(executor))).toEqual(['b', 'c'])
  })

  it('Y5 by throw() into the synchronous generator', async () => {
    const { executor } = await threeDone()
    const reader = executor.getCompletedResults()
    reader.next()
    expect(() => reader.throw(new Error('into the generator'))).toThrow('into the generator')
    expect(takeReady(executor).map(([id]) => id)).toEqual(['b', 'c'])
  })

  it('Y5 by return() while it sleeps: it ends at once, and the next reader gets the result', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const reader = executor.getRemainingResults()
    const sleeping = reader.next()
    await flush()
    expect(await reader.return()).toEqual({ done: true, value: undefined })
    expect(await sleeping).toEqual({ done: true, value: undefined })
    read.run('a').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a'])
  })

  it('Y5 by throw() while it sleeps', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const reader = executor.getRemainingResults()
    const sleeping = reader.next()
    await expect(reader.throw(new Error('enough'))).rejects.toThrow('enough')
    expect(await sleeping).toEqual({ done: true, value: undefined })
    read.run('a').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['a'])
  })

  it('Y5 by return() from inside a listener to the message it waits for: the message is not lost', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const reader = executor.getRemainingResults()
    const sleeping = reader.next()
    executor.on('message', () => void reader.return())
    read.run('a').finish()
    const step = await sleeping
    expect(step.done ? [] : idsOf([step.value])).toEqual(['a'])
    expect(await drain(executor)).toEqual([])
  })

  it('Y5 before it has begun: nothing is taken', async () => {
    const { executor } = await threeDone()
    await executor.getRemainingResults().return()
    executor.getCompletedResults().return()
    expect(idsOf(await drain(executor))).toEqual(['a', 'b', 'c'])
  })

  it('Y5 when a sleeping reader leaves, other readers are neither woken nor ended', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const leaver = executor.getRemainingResults()
    const stayer = executor.getRemainingResults()
    const left = leaver.next()
    const stayed = stayer.next()
    await leaver.return()
    read.run('a').finish()
    expect((await left).done).toBe(true)
    expect((await stayed).done).toBe(false)
  })
})

describe('readers side by side', () => {
  it('Y5 two at once: each message goes to one of them, and both end', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const id of ids) add(id, 'Read')
    const one = drain(executor)
    const other = drain(executor)
    for (const id of ids) {
      read.run(id).finish()
      await flush()
    }
    const taken = [...idsOf(await one), ...idsOf(await other)]
    expect(taken.sort()).toEqual(ids)
  })

  it('Y5 next() many times without awaiting: in order, each message once, then done', async () => {
    const { executor } = await threeDone()
    const reader = executor.getRemainingResults()
    const steps = await Promise.all(Array.from({ length: 5 }, () => reader.next()))
    expect(idsOf(steps.flatMap(({ value }) => (value === undefined ? [] : [value])))).toEqual(['a', 'b', 'c'])
    expect(steps.map((step) => step.done === true)).toEqual([false, false, false, true, true])
  })

  it('Y5 a synchronous reader beside a sleeping one: nothing twice, and the sleeper ends', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    add('b', 'Read')
    const sleeping = drain(executor)
    read.run('a').finish()
    read.run('b').finish()
    await flush()
    const beside = takeReady(executor).map(([id]) => id)
    expect([...beside, ...idsOf(await sleeping)].sort()).toEqual(['a', 'b'])
  })

  it('Y2 Y5 progress goes to one of two readers too', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const one = drain(executor)
    const other = drain(executor)
    for (const data of [1, 2, 3]) read.run('a').progress(data)
    read.run('a').finish()
    const seen = progressOf([...(await one), ...(await other)]).map(({ data }) => data)
    expect(seen.sort()).toEqual([1, 2, 3])
  })
})

describe('readers that are late or never come', () => {
  it('Y6 without a reader every call runs to its end, and its result waits', async () => {
    const write = heldTool('Write')
    const { executor, add } = testTurn([write.tool])
    for (const id of ['a', 'b', 'c']) add(id, 'Write')
    for (const id of ['a', 'b', 'c']) {
      write.run(id).finish()
      await flush()
    }
    expect(stateOf(executor, 'c')).toBe('completed')
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b', 'c'])
  })

  it('Y7 context modifiers apply without a reader', async () => {
    const seen: unknown[] = []
    const { add } = testTurn([
      roughTool('Cd', async () => ({
        data: 'done',
        contextModifier: (context: object) => ({ ...context, directory: '/new' }),
      })),
      roughTool('Pwd', async (_, { directory }) => void seen.push(directory)),
    ])
    add('a', 'Cd')
    add('b', 'Pwd')
    await flush()
    expect(seen).toEqual(['/new'])
  })

  it('Y4 on an empty executor: done at once, and calls may still be added', async () => {
    const { executor, add } = testTurn([roughTool('Read', done)])
    expect(await drain(executor)).toEqual([])
    expect([...executor.getCompletedResults()]).toEqual([])
    add('a', 'Read')
    expect(idsOf(await drain(executor))).toEqual(['a'])
  })

  it('Y4 calls that are added while a reader sleeps are delivered to it', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    const reading = drain(executor)
    await flush()
    add('b', 'Read')
    read.run('a').finish()
    await flush()
    read.run('b').finish()
    expect(idsOf(await reading)).toEqual(['a', 'b'])
  })

  it('Y4 calls that are added after the end need a new reader', async () => {
    const { executor, add } = await threeDone()
    const reader = executor.getRemainingResults()
    for await (const _ of reader);
    add('d', 'Read')
    expect(await reader.next()).toEqual({ done: true, value: undefined })
    expect(idsOf(await drain(executor))).toEqual(['d'])
  })

  it('Y4 calls added from inside the loop of a reader reach that reader', async () => {
    const { executor, add } = await threeDone()
    const taken: MessageUpdate[] = []
    for await (const update of executor.getRemainingResults()) {
      taken.push(update)
      if (taken.length === 3) add('d', 'Read')
    }
    expect(idsOf(taken)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('Y3 the synchronous generator never waits: it ends at the first call that is not ready', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    read.run('a').finish()
    read.run('c').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a'])
    expect(takeReady(executor)).toEqual([])
  })
})
