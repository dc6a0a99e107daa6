import { describe, expect, it } from 'vitest'
import { type QueryMessage, query } from '../../src/index.ts'
import { callBlock, heldModel, textBlock } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const busy = Object.assign(new Error('busy'), { status: 529 })
const isRetry = (message: QueryMessage): boolean => message.type === 'system' && message.subtype === 'model_retry'

describe('cases that random queries found', () => {
  it('Y6 L8 a call that is added just as the last result is delivered is answered too', async () => {
    const read = heldTool('Read', { safe: true })
    const { held, run } = testQuery([read.tool])
    const [b1, b2, b3, bEnd] = callBlock(1, 'b', 'Read', '{}')
    await flush()
    held.start()
    held.call('a', 'Read')
    held.send(b1, b2, b3)
    await flush()
    read.run('a').finish({ data: 'A' })
    held.send(bEnd)
    await flush()
    held.end('tool_use')
    await flush()
    expect(held.requests).toHaveLength(1)
    read.run('b').finish({ data: 'B' })
    await flush()
    expect(inShort(run.transcript).slice(-2)).toEqual(['user: result a A', 'user: result b B'])
  })

  it('L5 Q4 no unsafe call of the next turn runs beside a body of a discarded attempt', async () => {
    const write = heldTool('Write', { startWhen: 'closed' })
    const { held, run } = testQuery([write.tool])
    await flush()
    held.start('m1')
    held.call('a', 'Write')
    await flush()
    held.start('m2')
    await flush()
    run.interrupt('the other one')
    await flush()
    held.start('m3')
    held.call('b', 'Write')
    await flush()
    // the body of `a` was told to stop, and its grace period is not over
    expect(write.started).toEqual(['a'])
  })

  it('L6 leaving during a backoff waits until nothing runs any more', async () => {
    const write = heldTool('Write', { startWhen: 'closed' })
    const { held, run } = testQuery([write.tool])
    await flush()
    held.start()
    held.call('a', 'Write')
    await flush()
    held.fail(busy)
    await flush()
    let hasReturned = false
    void run.return().then(() => {
      hasReturned = true
    })
    await flush()
    expect(hasReturned).toBe(false)
    write.run('a').finish()
    await flush()
    expect(hasReturned).toBe(true)
  })

  it('L7 a prepareMessages that fails on a second attempt ends the query', async () => {
    let count = 0
    const prepareMessages = <Messages>(messages: Messages): Messages => {
      if (++count === 2) throw new Error('no')
      return messages
    }
    const { held, clock, result } = testQuery([], { prepareMessages, retry: { backoffMs: 10 } })
    await flush()
    held.fail(busy)
    await flush()
    clock.increment(10)
    await flush()
    expect(await Promise.race([result, 'hangs'])).toMatchObject({ reason: 'model_error' })
  })

  it('L8 a prepareMessages that fails on a second turn keeps the first turn', async () => {
    let count = 0
    const prepareMessages = <Messages>(messages: Messages): Messages => {
      if (++count === 2) throw new Error('no')
      return messages
    }
    const read = heldTool('Read', { safe: true })
    const { held, run, result } = testQuery([read.tool], { prepareMessages })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish({ data: 'A' })
    await result
    expect(inShort(run.transcript)).toEqual(['user: go', 'assistant: call a Read {}', 'user: result a A'])
  })

  it('Q8 the same block twice, with the id of an earlier turn, is one call', async () => {
    const read = heldTool('Read', { safe: true })
    const { held } = testQuery([read.tool])
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish()
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(read.started).toHaveLength(2)
  })

  it('L5 attempts are counted for each reply, after a steer too', async () => {
    const { held, run, clock } = testQuery([], { retry: { attempts: 1, backoffMs: 10 } })
    await flush()
    held.fail(busy)
    await flush()
    clock.increment(10)
    await flush()
    held.start()
    run.interrupt('something else')
    await flush()
    held.fail(busy)
    await flush()
    clock.increment(10)
    await flush()
    expect(held.requests).toHaveLength(4)
  })

  it("A3 one interrupt by the host's controller does not stop calls that start because of it", async () => {
    const block = heldTool('Block')
    const abortController = new AbortController()
    const canUseTool = () => new Promise<never>(() => undefined)
    const { held, run } = testQuery([block.tool], { context: { abortController }, canUseTool })
    await flush()
    held.start()
    held.call('a', 'Block')
    held.call('b', 'Block')
    held.end('tool_use')
    await flush()
    abortController.abort('interrupt')
    await flush()
    // the question about `a` is closed; `b` has block behaviour, was queued, and still runs
    expect(run.executor.openQuestions().map(({ toolUseID }) => toolUseID)).toEqual(['b'])
  })

  it('A9 a query that was aborted before it began does not listen to its host', async () => {
    const abortController = new AbortController()
    let listeners = 0
    const { signal } = abortController
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--
      remove(...given)
    }
    const run = query({ messages: 'go', tools: [], model: heldModel().model, context: { abortController } })
    run.abort('early')
    for await (const _message of run);
    expect(listeners).toBe(0)
  })

  it('L5 a restarted reply is not reported with an error of an earlier attempt', async () => {
    const { held, clock, seen } = testQuery([], { retry: { backoffMs: 10 } })
    await flush()
    held.fail(busy)
    await flush()
    clock.increment(10)
    await flush()
    held.start('m1')
    held.start('m2')
    await flush()
    expect(seen.filter(isRetry)[1]).toMatchObject({ errorKind: 'restarted' })
    expect(JSON.stringify(seen.filter(isRetry)[1])).not.toContain('busy')
  })

  it('L3 a reply whose start comes after its first block is still one reply', async () => {
    const read = heldTool('Read', { safe: true })
    const { held, run, seen, result } = testQuery([read.tool])
    await flush()
    held.send(...callBlock(0, 'a', 'Read', '{}'))
    await flush()
    read.run('a').finish({ data: 'A' })
    await flush()
    held.start()
    held.send(...textBlock(1, 'and'))
    held.end('tool_use')
    await flush()
    held.start()
    held.end()
    await result
    expect(inShort(seen as never)).toEqual(inShort(run.transcript).slice(1))
  })
})
