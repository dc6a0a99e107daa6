import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/index.ts'
import { type HeldToolOptions, heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const tools = (options: HeldToolOptions = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true, ...options })
  const block = heldTool('Block', { safe: true })
  const write = heldTool('Write')
  return { read, block, write, all: [read.tool, block.tool, write.tool] }
}
const stopped = 'user: [The user stopped this reply.]'

describe('a query that is ended from outside', () => {
  it('L6 while streaming: every call gets its result, then an interruption message', async () => {
    const { read, write, all } = tools()
    const { held, run, result } = testQuery(all)
    await flush()
    held.start()
    held.text('I will')
    held.call('a', 'Read')
    held.call('w', 'Write')
    held.send({ type: 'content_block_start', index: 7, content_block: { type: 'text', text: 'and th' } })
    held.send({ type: 'content_block_start', index: 8, content_block: { type: 'tool_use', id: 'x', name: 'Read' } })
    await flush()
    run.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'escape', stopReason: undefined })
    expect(held.requests[0]?.signal.aborted).toBe(true)
    expect(inShort(run.transcript).slice(1)).toEqual([
      'assistant: I will',
      'assistant: call a Read {}',
      'assistant: call w Write {}',
      'assistant: and th',
      'user: result a error',
      'user: result w error',
      stopped,
    ])
    expect([read.started, write.started]).toEqual([['a'], []])
  })

  it('L6 while tools run: the same, and the message says that tools were running', async () => {
    const { all } = tools()
    const { held, run, result, seen } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    run.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'escape' })
    expect(run.transcript.at(-1)).toMatchObject({ type: 'user', toolUse: true })
    expect(seen.at(-1)).toBe(run.transcript.at(-1))
  })

  it('L6 A3 an interrupt lets calls with block behaviour finish, and adds no message', async () => {
    const { block, all } = tools()
    const { held, run, result } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('b', 'Block')
    held.call('w', 'Write')
    await flush()
    run.interrupt()
    await flush()
    block.run('b').finish({ data: 'B' })
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'interrupt' })
    expect(inShort(run.transcript).slice(-3)).toEqual([
      'user: result a error',
      'user: result b B',
      'user: result w error',
    ])
  })

  it('L6 A4 a stronger reason follows an interrupt', async () => {
    const { block, all } = tools()
    const { held, run, result, clock } = testQuery(all)
    await flush()
    held.start()
    held.call('b', 'Block')
    held.end('tool_use')
    await flush()
    run.interrupt()
    await flush()
    run.abort('escape')
    expect(block.run('b').context.abortController.signal.reason).toBe('escape')
    clock.increment(5_000)
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'escape' })
    expect(inShort(run.transcript).slice(-2)).toEqual([
      'user: result b error',
      'user: [The user stopped this turn while tools ran.]',
    ])
  })

  it('L6 an interrupt with a message: the model stops, and continues with the message', async () => {
    const { block, all } = tools()
    const { held, run, result } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('b', 'Block')
    held.send({ type: 'content_block_start', index: 7, content_block: { type: 'text', text: 'and th' } })
    await flush()
    run.interrupt('no, the other one')
    await flush()
    expect(held.requests[0]?.signal.aborted).toBe(true)
    block.run('b').finish({ data: 'B' })
    await flush()
    expect(inShort(run.transcript).slice(3)).toEqual([
      'assistant: and th',
      'user: result a error',
      'user: result b B',
      'user: no, the other one',
    ])
    held.start()
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('L6 an interrupt with a message while the request is prepared: the request has it', async () => {
    const prepared: ((messages: Message[]) => void)[] = []
    const lengths: number[] = []
    const { held, run, result } = testQuery([], {
      prepareMessages: (messages) => {
        lengths.push(messages.length)
        return new Promise<readonly Message[]>((resolve) => prepared.push(() => resolve(messages)))
      },
    })
    await flush()
    run.interrupt('no, the other one')
    prepared[0]?.([])
    await flush()
    expect(held.requests).toEqual([])
    prepared[1]?.([])
    await flush()
    expect(apiInShort(held.requests[0]?.messages ?? [])).toEqual(['user: go', 'user: no, the other one'])
    held.start()
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect([lengths, held.requests.length]).toEqual([[1, 2], 1])
  })

  it.each([
    'abort',
    'interrupt',
  ] as const)('L6 an %s follows an interrupt while the request is prepared', async (how) => {
    const prepared: (() => void)[] = []
    const { held, run, result } = testQuery([], {
      prepareMessages: (messages) =>
        new Promise<readonly Message[]>((resolve) => prepared.push(() => resolve(messages))),
    })
    await flush()
    run.interrupt('no, the other one')
    run[how]()
    expect(await result).toMatchObject({ reason: 'aborted_streaming' })
    const { length } = run.transcript
    prepared[0]?.()
    await flush()
    expect([held.requests, prepared.length, run.transcript.length]).toEqual([[], 1, length])
  })

  it('L6 an interrupt with a message while tools run', async () => {
    const { block, all } = tools()
    const { held, run } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('b', 'Block')
    held.end('tool_use')
    await flush()
    run.interrupt('stop reading')
    await flush()
    block.run('b').finish({ data: 'B' })
    await flush()
    expect(inShort(run.transcript).slice(-3)).toEqual([
      'user: result a error',
      'user: result b B',
      'user: stop reading',
    ])
  })

  it("L6 the host's own controller, aborted before, during and by a permission that stops the turn", async () => {
    const before = AbortSignal.abort('early')
    const early = testQuery([], { context: { abortController: { signal: before, abort() {} } as never } })
    expect(await early.result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'early' })
    expect(early.held.requests).toEqual([])

    const abortController = new AbortController()
    const during = testQuery([], { context: { abortController } })
    await flush()
    during.held.start()
    abortController.abort('later')
    expect(await during.result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'later' })

    const { all } = tools()
    const asking = testQuery(all, { canUseTool: () => ({ behavior: 'deny', message: 'no more', interrupt: true }) })
    await flush()
    asking.held.start()
    asking.held.call('a', 'Read')
    asking.held.end('tool_use')
    expect(await asking.result).toMatchObject({ abortReason: 'permission_stop' })
    expect(JSON.stringify(asking.run.transcript)).toContain('no more')
  })

  it('A9 L6 a query and its executors share one listener on the host’s signal, and remove it', async () => {
    const abortController = new AbortController()
    const listeners = () => getEventListeners(abortController.signal, 'abort').length
    const { read, all } = tools()
    const { held, result } = testQuery(all, { context: { abortController } })
    await flush()
    held.start()
    held.call('a', 'Read')
    await flush()
    read.run('a').finish()
    await flush()
    held.call('b', 'Read')
    await flush()
    expect(listeners()).toBe(1)
    abortController.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'escape' })
    expect(read.run('b').context.abortController.signal.reason).toBe('escape')
    expect(listeners()).toBe(0)
  })

  it('L6 in the backoff, before the start, twice, and after the end', async () => {
    const { held, run, result, clock } = testQuery([])
    await flush()
    held.fail(Object.assign(new Error('busy'), { status: 529 }))
    await flush()
    run.abort('escape')
    run.abort('again')
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'escape' })
    run.abort('late')
    run.interrupt('late')
    clock.increment(10_000)
    await flush()
    expect(held.requests).toHaveLength(1)
    expect(inShort(run.transcript)).toEqual(['user: go', stopped])
  })

  it('L6 a stream that ignores its signal does not delay the end', async () => {
    const { run, result } = testQuery([], {
      model: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise(() => undefined),
          return: () => {
            throw new Error('no')
          },
        }),
      }),
    })
    await flush()
    run.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_streaming' })
  })

  it('L6 L8 breaking out of the loop ends the query, and the transcript is complete', async () => {
    const { read, all } = tools()
    const { held, run } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(read.started).toEqual(['a'])
    expect(await run.return()).toMatchObject({
      done: true,
      value: { reason: 'aborted_tools', abortReason: 'reader_left' },
    })
    expect(inShort(run.transcript).slice(1, 3)).toEqual(['assistant: call a Read {}', 'user: result a error'])
    await expect(run.throw(new Error('mine'))).rejects.toThrow('mine')
    expect(await run.next()).toMatchObject({ done: true })
  })
})
