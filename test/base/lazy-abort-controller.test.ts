import { describe, expect, it } from 'vitest'
import { abortSourceOf } from '../../src/base/abort-source.ts'
import { LazyAbortController } from '../../src/base/lazy-abort-controller.ts'
import { createToolUseContext } from '../../src/index.ts'

describe.each([
  ['the platform’s', () => new AbortController()],
  ['the lazy one', () => new LazyAbortController()],
])('A8 %s controller', (_name, create) => {
  it('is an AbortController whose signal stays the same', () => {
    const controller: AbortController = create()
    expect(controller).toBeInstanceOf(AbortController)
    expect(controller.signal).toBeInstanceOf(AbortSignal)
    expect(controller.signal).toBe(controller.signal)
    expect(controller.signal.aborted).toBe(false)
  })

  it.each([['stop'], [undefined], [new Error('enough')]])('aborts once, with the reason %s', (reason) => {
    const controller: AbortController = create()
    const source = abortSourceOf(controller)
    const heard: unknown[] = []
    const listener = () => heard.push(source.reason)
    source.add(listener)
    controller.abort(reason)
    controller.abort('again')
    const expected = reason ?? expect.objectContaining({ name: 'AbortError' })
    expect(heard).toEqual([expected])
    expect(source.aborted).toBe(true)
    expect(controller.signal.reason).toEqual(expected)
  })

  it('reaches listeners of its signal, signals that follow it, and whoever comes later', async () => {
    const controller: AbortController = create()
    const followed = AbortSignal.any([controller.signal])
    let isHeard = false
    controller.signal.addEventListener('abort', () => {
      isHeard = true
    })
    controller.abort('stop')
    expect([isHeard, followed.reason, controller.signal.reason]).toEqual([true, 'stop', 'stop'])
    await expect(fetch('data:,', { signal: controller.signal })).rejects.toBe('stop')
    expect(() => controller.signal.throwIfAborted()).toThrow('stop')
  })

  it('tells those who listen, not those who left, even if one leaves while it tells', () => {
    const controller: AbortController = create()
    const source = abortSourceOf(controller)
    const heard: string[] = []
    const gone = () => heard.push('gone')
    const leaves = () => {
      heard.push('leaves')
      source.delete(leaves)
    }
    const stays = () => heard.push('stays')
    for (const listener of [gone, leaves, stays]) source.add(listener)
    source.delete(gone)
    controller.abort()
    expect(heard).toEqual(['leaves', 'stays'])
  })

  it('can be cut from its methods like any controller', () => {
    const controller: AbortController = create()
    const { signal } = controller
    controller.abort('stop')
    expect(signal.reason).toBe('stop')
    expect(abortSourceOf(controller).reason).toBe('stop')
  })
})

it('A8 a context that comes without a controller has one whose signal is created when somebody reads it', () => {
  const { abortController } = createToolUseContext()
  expect(abortController).toBeInstanceOf(LazyAbortController)
  const given = new AbortController()
  expect(createToolUseContext({ abortController: given }).abortController).toBe(given)
})
