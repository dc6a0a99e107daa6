import { describe, expect, it } from 'vitest'
import { AsyncQueue } from '../../src/base/async-queue.ts'
import { flush } from '../support/turn.ts'

const item = (value: string) => ({ done: false, value })
const end = (value: string) => ({ done: true, value })

/** Whether a promise has resolved by now. */
async function isResolved(promise: Promise<unknown> | undefined): Promise<boolean> {
  let is = false
  promise?.then(() => {
    is = true
  })
  await flush()
  return is
}

describe('AsyncQueue', () => {
  it('hands each item to one reader, in the order in which they asked', async () => {
    const queue = new AsyncQueue<string, string>(10)
    queue.push('a')
    const early = [queue.take(), queue.take(), queue.take()]
    queue.push('b')
    queue.push('c')
    queue.push('d')
    expect(await Promise.all([...early, queue.take()])).toEqual(['a', 'b', 'c', 'd'].map(item))
  })

  it('ends every reader that waits, and those that come later, after what is left', async () => {
    const queue = new AsyncQueue<string, string>(10)
    const waiting = [queue.take(), queue.take()]
    queue.end('over')
    expect(await Promise.all([...waiting, queue.take()])).toEqual([end('over'), end('over'), end('over')])

    const full = new AsyncQueue<string, string>(10)
    full.push('a')
    expect(full.ending).toBeUndefined()
    full.end('over')
    expect(full.ending).toBe('over')
    expect([await full.take(), await full.take(), await full.take()]).toEqual([item('a'), end('over'), end('over')])
  })

  it('keeps its first ending, and takes nothing more after it', async () => {
    const queue = new AsyncQueue<string, string>(10)
    queue.end('first')
    queue.end('second')
    queue.push('late')
    expect(await queue.take()).toEqual(end('first'))
  })

  it('asks a writer to wait while it is full', async () => {
    const queue = new AsyncQueue<string, string>(2)
    expect(queue.room()).toBeUndefined()
    queue.push('a')
    expect(queue.room()).toBeUndefined()
    queue.push('b')
    queue.push('c')
    const writers = [queue.room(), queue.room()]
    await queue.take()
    expect(await Promise.all(writers.map(isResolved))).toEqual([false, false])
    await queue.take()
    expect(await Promise.all(writers.map(isResolved))).toEqual([true, true])
    expect(queue.room()).toBeUndefined()
  })

  it('lets no writer wait once it has ended', async () => {
    const queue = new AsyncQueue<string, string>(1)
    queue.push('a')
    const writer = queue.room()
    expect(await isResolved(writer)).toBe(false)
    queue.end('over')
    expect(await isResolved(writer)).toBe(true)
    expect(queue.room()).toBeUndefined()
  })

  it('drops what is left when nobody reads any more, and its writers go on', async () => {
    const queue = new AsyncQueue<string, string>(1)
    queue.push('a')
    const writer = queue.room()
    queue.drop()
    expect(await isResolved(writer)).toBe(true)
    queue.push('b')
    queue.end('over')
    expect([await queue.take(), await queue.take()]).toEqual([item('b'), end('over')])
  })
})
