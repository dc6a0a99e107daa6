import { describe, expect, it } from 'vitest'
import type { ModelRetryMessage, QueryMessage } from '../../src/index.ts'
import { ModelStream } from '../../src/query/model-stream.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { heldModel, textBlock } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const overloaded = Object.assign(new Error('Overloaded'), { status: 529 })
const isRetry = (message: QueryMessage): message is ModelRetryMessage =>
  message.type === 'system' && message.subtype === 'model_retry'

describe('a model that fails', () => {
  it('L5 is asked again after a backoff; the failed attempt is discarded, and the host gets the calls that had run', async () => {
    const read = heldTool('Read', { safe: true, obedient: true, isReadOnly: () => true })
    const { held, clock, seen, run, result } = testQuery([read.tool])
    await flush()
    held.start()
    held.text('first try')
    held.call('a', 'Read')
    held.call('b', 'Read')
    await flush()
    read.run('a').finish({ data: 'A' })
    await flush()
    held.fail(overloaded)
    await flush()
    expect(held.requests[0]?.signal.aborted).toBe(true)
    expect(read.run('b').context.abortController.signal.reason).toBe('streaming_fallback')
    const [retry] = seen.filter(isRetry)
    expect(retry).toMatchObject({ errorKind: 'overloaded', delayMs: 500, isFallback: false })
    expect(retry?.calls).toEqual([
      { id: 'a', name: 'Read', started: true, completed: true },
      { id: 'b', name: 'Read', started: true, completed: false },
    ])
    expect(held.requests).toHaveLength(1)
    expect(run.actor.getSnapshot().context.transition).toEqual({ reason: 'retry' })
    clock.increment(500)
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? [])).toEqual(['user: go'])
    held.start()
    held.text('second try')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(inShort(run.transcript)).toEqual(['user: go', 'assistant: second try'])
    // a host that keeps all yielded messages gets the same
    expect(inShort(seen as never)).toEqual(['assistant: second try'])
  })

  it.each([
    ['allow', ['a', 'b']],
    ['deny', []],
  ] as const)('L5 P6 a rule to %s that came with an answer applies to the next attempt', async (behavior, started) => {
    const isReadOnly = () => true
    const slow = heldTool('Slow', { safe: true, obedient: true, isReadOnly })
    const read = heldTool('Read', { safe: true, isReadOnly })
    const asked: string[] = []
    const { held, clock } = testQuery([slow.tool, read.tool], {
      executor: { abortGraceMs: 0 },
      canUseTool: ({ name }, _input, _context, _message, id) => {
        if (name === 'Slow') return { behavior: 'allow' }
        asked.push(id)
        return { behavior, message: 'never', addRules: { [behavior]: ['Read'] } }
      },
    })
    await flush()
    held.start()
    // the second call's result waits for the first: no result of this attempt is ever delivered
    held.call('first', 'Slow')
    held.call('a', 'Read')
    await flush()
    held.fail(overloaded)
    await flush()
    clock.increment(500)
    await flush()
    held.start()
    held.call('b', 'Read')
    await flush()
    expect([read.started, asked]).toEqual([started, ['a']])
  })

  it('L5 nothing of the next attempt starts while a body of the last one still runs', async () => {
    const look = heldTool('Look', { startWhen: 'closed', isReadOnly: () => true })
    const { held, clock } = testQuery([look.tool], { executor: { abortGraceMs: 2_000 } })
    await flush()
    held.start()
    held.call('a', 'Look')
    await flush()
    held.fail(overloaded)
    await flush()
    clock.increment(500)
    await flush()
    expect(held.requests).toHaveLength(1)
    clock.increment(1_500)
    await flush()
    expect(held.requests).toHaveLength(2)
  })

  it('L5 after its attempts the fallback is asked, for the rest of the query', async () => {
    const other = heldModel()
    const read = heldTool('Read', { safe: true })
    const { held, clock, seen, result } = testQuery([read.tool], {
      fallbackModel: other.model,
      retry: { attempts: 1, backoffMs: 10 },
    })
    await flush()
    held.fail(overloaded)
    await flush()
    clock.increment(10)
    await flush()
    held.fail(overloaded)
    await flush()
    expect([held.requests.length, other.requests.length]).toEqual([2, 0])
    clock.increment(0)
    await flush()
    expect([held.requests.length, other.requests.length]).toEqual([2, 1])
    expect(seen.filter(isRetry).map(({ isFallback }) => isFallback)).toEqual([false, true])
    other.start()
    other.call('a', 'Read')
    other.end('tool_use')
    await flush()
    read.run('a').finish()
    await flush()
    expect([held.requests.length, other.requests.length]).toEqual([2, 2])
    other.start()
    other.end()
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('L7 an error that cannot be retried ends the query, after every call has its result', async () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { held, run, result } = testQuery([read.tool, write.tool])
    const error = Object.assign(new Error('bad request'), { status: 400 })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('w', 'Write')
    held.send({ type: 'content_block_start', index: 5, content_block: { type: 'text', text: 'half a sen' } })
    held.send({ type: 'content_block_start', index: 6, content_block: { type: 'tool_use', id: 'x', name: 'Read' } })
    held.fail(error)
    await flush()
    // the unsafe call's block had ended before the next one: it runs
    expect(write.started).toEqual([])
    read.run('a').finish({ data: 'A' })
    await flush()
    write.run('w').finish({ data: 'W' })
    expect(await result).toMatchObject({ reason: 'model_error', error, stopReason: undefined })
    expect(inShort(run.transcript).slice(1)).toEqual([
      'assistant: call a Read {}',
      'assistant: call w Write {}',
      'assistant: half a sen',
      'user: result a A',
      'user: result w W',
    ])
  })

  it('L5 L7 attempts are counted for each reply, and without a fallback the last failure ends the query', async () => {
    const { held, clock, result } = testQuery([], { retry: { attempts: 1, backoffMs: () => 5 } })
    await flush()
    held.fail(overloaded)
    await flush()
    clock.increment(5)
    await flush()
    held.start()
    held.end('pause_turn')
    await flush()
    held.fail(overloaded)
    await flush()
    clock.increment(5)
    await flush()
    expect(held.requests).toHaveLength(4)
    held.fail(overloaded)
    expect(await result).toMatchObject({ reason: 'model_error', error: overloaded })
  })

  it.each<[string, (held: ReturnType<typeof heldModel>) => void, string]>([
    ['ends without a stop reason', (held) => held.cut(), 'connection'],
    [
      'sends an error',
      (held) => held.send({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
      'overloaded',
    ],
    [
      'loses its connection',
      (held) => held.fail(Object.assign(new Error('gone'), { code: 'ECONNRESET' })),
      'connection',
    ],
  ])('L5 a stream that %s is retried', async (_, fail, kind) => {
    const { held, seen, clock } = testQuery([])
    await flush()
    held.start()
    held.text('half')
    fail(held)
    await flush()
    expect(seen.filter(isRetry)[0]).toMatchObject({ errorKind: kind })
    clock.increment(500)
    await flush()
    expect(held.requests).toHaveLength(2)
  })

  it('L5 a stream that falls silent is retried', async () => {
    const { held, seen, clock } = testQuery([], { streamIdleMs: 1_000 })
    await flush()
    held.start()
    await flush()
    clock.increment(999)
    held.send({ type: 'ping' })
    await flush()
    clock.increment(999)
    await flush()
    expect(seen.filter(isRetry)).toEqual([])
    clock.increment(1)
    await flush()
    expect(seen.filter(isRetry)[0]).toMatchObject({ errorKind: 'timeout' })
    expect(held.requests[0]?.signal.aborted).toBe(true)
  })

  it('L5 a limit on silence that timers do not support means no limit, and does not fire at once', async () => {
    const { held, clock, seen } = testQuery([], { streamIdleMs: 2 ** 31 })
    await flush()
    held.start()
    await flush()
    clock.increment(2 ** 31)
    await flush()
    expect(seen.filter(isRetry)).toEqual([])
  })

  it.each([
    ['a number', 600_000],
    ['a function', () => 600_000],
  ])('L5 the backoff of the host is used, however long: %s', async (_, backoffMs) => {
    const { held, clock, seen } = testQuery([], { retry: { attempts: 1, backoffMs } })
    await flush()
    held.fail(overloaded)
    await flush()
    expect(seen.filter(isRetry)[0]).toMatchObject({ delayMs: 600_000 })
    clock.increment(599_999)
    await flush()
    expect(held.requests).toHaveLength(1)
    clock.increment(1)
    await flush()
    expect(held.requests).toHaveLength(2)
  })

  it('L5 the time a reader takes does not count as silence', async () => {
    const clock = simulatedClock()
    const model = heldModel()
    const stalls: unknown[] = []
    const pauses: (() => void)[] = []
    const stream = new ModelStream(clock, clock.now, 1_000, {
      event: () => new Promise<void>((resolve) => pauses.push(resolve)),
      ended: () => undefined,
      failed: (error) => stalls.push(error),
    })
    stream.start(model.model, { messages: [], tools: [] })
    await flush()
    model.send({ type: 'ping' })
    await flush()
    clock.increment(5_000)
    pauses.pop()?.()
    await flush()
    clock.increment(999)
    expect(stalls).toEqual([])
    clock.increment(1)
    expect(stalls).toHaveLength(1)
  })

  it('L5 a clock that does not know the time finds a silent stream too', async () => {
    const { setTimeout, clearTimeout, increment } = simulatedClock()
    const model = heldModel()
    const stalls: unknown[] = []
    const stream = new ModelStream({ setTimeout, clearTimeout }, Date.now, 1_000, {
      event: () => undefined,
      ended: () => undefined,
      failed: (error) => stalls.push(error),
    })
    stream.start(model.model, { messages: [], tools: [] })
    await flush()
    model.send({ type: 'ping' })
    await flush()
    increment(1_000)
    increment(1_000)
    expect(stalls).toHaveLength(1)
  })

  it('L5 the same reply started twice is one reply; another one in the same stream replaces it', async () => {
    const read = heldTool('Read', { safe: true, obedient: true, isReadOnly: () => true })
    const { held, seen, run, result } = testQuery([read.tool])
    await flush()
    held.start('m1')
    held.call('a', 'Read')
    held.start('m1')
    await flush()
    expect(seen.filter(isRetry)).toEqual([])
    held.start('m2')
    await flush()
    expect(seen.filter(isRetry)[0]).toMatchObject({ errorKind: 'restarted', calls: [{ id: 'a', started: true }] })
    expect(read.run('a').context.abortController.signal.aborted).toBe(true)
    held.send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'anew' } })
    held.send({ type: 'content_block_stop', index: 0 })
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(inShort(run.transcript)).toEqual(['user: go', 'assistant: anew'])
    // the event that began the other reply belongs to it
    expect(run.transcript.at(-1)).toMatchObject({ message: { id: 'm2', model: 'held' } })
    expect(held.requests).toHaveLength(1)
  })

  it('L5 L6 an abort while the body of a dropped reply still runs: that reply is neither kept nor counted twice', async () => {
    const read = heldTool('Read', { safe: true, isReadOnly: () => true })
    const { held, seen, run, result } = testQuery([read.tool])
    await flush()
    const usage = { input_tokens: 10, output_tokens: 1 }
    held.send({ type: 'message_start', message: { id: 'm1', model: 'held', usage } })
    held.call('a', 'Read')
    held.send(...textBlock(1, 'half a thought').slice(0, 2))
    held.send({ type: 'message_start', message: { id: 'm2', model: 'held', usage: { ...usage, input_tokens: 7 } } })
    await flush()
    expect(seen.filter(isRetry)).toHaveLength(1)
    run.abort('escape')
    read.run('a').finish()
    expect(await result).toMatchObject({ reason: 'aborted_streaming' })
    expect(inShort(run.transcript)).toEqual(['user: go', 'user: [The user stopped this reply.]'])
    expect(run.usage).toMatchObject({ turns: 1, models: { held: { inputTokens: 17, outputTokens: 2 } } })
  })

  it('L5 the host gets the text of the failure without its stack trace', async () => {
    const { held, seen } = testQuery([])
    await flush()
    const message = 'Overloaded\n    at send (/home/me/model.js:1:2)\n    at run (/home/me/main.js:3:4)\nTry later.'
    held.fail(Object.assign(new Error(message), { status: 529 }))
    await flush()
    expect(seen.filter(isRetry)[0]?.error).toBe('Error: Overloaded\nTry later.')
  })

  it('L5 a service that asks for a long delay is not retried', async () => {
    const { held, result } = testQuery([])
    await flush()
    held.fail(Object.assign(new Error('later'), { status: 429, headers: { 'retry-after': '3600' } }))
    expect(await result).toMatchObject({ reason: 'model_error' })
  })

  it.each<[string, unknown]>([
    [
      'throws at once',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no'))],
    ['returns no stream', () => 5],
    [
      'returns a stream that throws',
      async function* () {
        yield* []
        throw new Error('no')
      },
    ],
  ])('L7 a model that %s ends with model_error', async (_, model) => {
    const { result } = testQuery([], { model: model as never })
    expect(await result).toMatchObject({ reason: 'model_error' })
  })
})
