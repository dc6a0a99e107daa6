import { describe, expect, it, vi } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import { anthropicEvents, anthropicModel } from '../../src/models/anthropic/index.ts'
import { flush } from '../support/turn.ts'
import { collect } from './support/read-reply.ts'
import { ask } from './support/requests.ts'

const start = { type: 'message_start', message: { id: 'msg_1' } }
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }

/** A source that sends one event and is then silent; it notices `return()` only when called directly. */
const silentAfter = (...items: unknown[]) => {
  const seen = { returns: 0 }
  const iterator = {
    next: () => (items.length > 0 ? Promise.resolve({ done: false, value: items.shift() }) : new Promise(() => {})),
    return: async () => {
      seen.returns++
      return { done: true, value: undefined }
    },
  }
  return { seen, [Symbol.asyncIterator]: () => iterator as AsyncIterator<unknown> }
}

const clientOf = (create: (params: object, options?: { signal?: AbortSignal | null | undefined }) => unknown) => ({
  messages: {
    create: async (params: object, options?: { signal?: AbortSignal | null | undefined }) => create(params, options),
  },
})

const modelOf = (...args: Parameters<typeof clientOf>) =>
  anthropicModel(clientOf(...args), { model: 'm', max_tokens: 9 } as never)

describe('the connection of a reply that has ended', () => {
  const over = { type: 'message_stop' }
  const asked = async (source: AsyncIterable<unknown>) => {
    let signal: AbortSignal | null | undefined
    const model = modelOf((_, options) => {
      signal = options?.signal
      return source
    })
    expect(await collect(await model(ask()))).toEqual([start, stop, over])
    await flush()
    return signal as AbortSignal
  }

  it('is read to its end and not closed, so that it can be reused', async () => {
    let isReadToItsEnd = false
    async function* source() {
      yield* [start, stop, over]
      isReadToItsEnd = true
    }
    const signal = await asked(source())
    expect([isReadToItsEnd, signal.aborted]).toEqual([true, false])
  })

  it('is closed if it sends more', async () => {
    const source = silentAfter(start, stop, over, { type: 'ping' })
    expect((await asked(source)).aborted).toBe(true)
    expect(source.seen.returns).toBe(1)
  })

  it('is closed if it does not end for a while', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const source = silentAfter(start, stop, over)
      const signal = await asked(source)
      expect([source.seen.returns, signal.aborted]).toEqual([0, false])
      vi.runAllTimers()
      expect([source.seen.returns, signal.aborted]).toEqual([1, true])
    } finally {
      vi.useRealTimers()
    }
  })

  it('may fail without an error', async () => {
    async function* source() {
      yield* [start, stop, over]
      throw new TypeError('terminated')
    }
    expect((await asked(source())).aborted).toBe(false)
  })
})

describe('a stream of events', () => {
  it('sends the request when the first event is requested', async () => {
    let asked = 0
    const model = modelOf(() => {
      asked++
      return [start]
    })
    const events = await model(ask())
    await flush()
    expect(asked).toBe(0)
    expect(await collect(events)).toEqual([start])
    expect(asked).toBe(1)
  })

  it('can be left while the source is silent', async () => {
    const source = silentAfter(start)
    const events = anthropicEvents(source)[Symbol.asyncIterator]()
    expect(await events.next()).toEqual({ done: false, value: start })
    const pending = events.next()
    expect(await events.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(source.seen.returns).toBe(1)
  })

  it('ends at once when the request is aborted, and tells the client', async () => {
    const host = new AbortController()
    let given: AbortSignal | null | undefined
    const model = modelOf((_, options) => {
      given = options?.signal
      return silentAfter(start)
    })
    const events = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    await events.next()
    const pending = events.next()
    host.abort('enough')
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(given?.aborted).toBe(true)
    expect(given?.reason).toBe('enough')
  })

  it('ends at once even when the service has not answered yet, and closes a late answer', async () => {
    const host = new AbortController()
    const late = silentAfter()
    let answer = (_: unknown) => {}
    const answered = new Promise((resolve) => {
      answer = resolve
    })
    const model = modelOf(() => answered)
    const events = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    const pending = events.next()
    await flush()
    host.abort()
    expect(await pending).toEqual({ done: true, value: undefined })
    answer(late)
    await flush()
    expect(late.seen.returns).toBe(1)
  })

  it('sends no request if it is already aborted', async () => {
    let asked = 0
    const model = modelOf(() => {
      asked++
      return [start]
    })
    expect(await collect(await model(ask({ signal: AbortSignal.abort() })))).toEqual([])
    expect(asked).toBe(0)
  })

  it('leaves no listener on the signal of the request', async () => {
    const host = new AbortController()
    let listeners = 0
    const add = host.signal.addEventListener.bind(host.signal)
    const remove = host.signal.removeEventListener.bind(host.signal)
    host.signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    host.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    const ends = [() => [start, stop], () => [start, { type: 'message_stop' }], () => Promise.reject(new Error('no'))]
    for (const end of ends) {
      await collect(await modelOf(end)(ask({ signal: host.signal }))).catch(() => undefined)
      expect(listeners).toBe(0)
    }
    const left = (await modelOf(() => silentAfter(start))(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    await left.next()
    expect(listeners).toBe(1)
    await left.return?.()
    expect(listeners).toBe(0)
  })

  it('throws the client’s error unchanged, and has then ended', async () => {
    const error = Object.assign(new Error('overloaded'), { status: 529 })
    const events = (await modelOf(() => Promise.reject(error))(ask()))[Symbol.asyncIterator]()
    await expect(events.next()).rejects.toBe(error)
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('a reply with a stop reason is complete, even if the connection breaks afterwards', async () => {
    async function* source() {
      yield* [start, stop]
      throw new TypeError('terminated')
    }
    expect(await collect(anthropicEvents(source()))).toEqual([start, stop])
  })

  it('a client that returns no stream is an error of the host', async () => {
    const failed = await collect(await modelOf(() => ({ id: 'msg_1', content: [] }))(ask())).catch((error) => error)
    expect(isSignalboxError(failed) && failed.code).toBe('invalid_option')
    expect(failed.message).toContain('"msg_1"')
  })

  it('reads web streams, and cancels those it leaves', async () => {
    let cancelled: unknown
    const stream = new ReadableStream<unknown>({
      start: (controller) => controller.enqueue(start),
      cancel(reason) {
        cancelled = reason ?? 'cancelled'
      },
    })
    const events = anthropicEvents(stream)[Symbol.asyncIterator]()
    expect(await events.next()).toEqual({ done: false, value: start })
    await events.return?.()
    await flush()
    expect(cancelled).toBe('cancelled')
  })

  it('a source that throws synchronously has failed', async () => {
    const next = () => {
      throw new TypeError('no promise')
    }
    const events = anthropicEvents({ [Symbol.asyncIterator]: () => ({ next }) })[Symbol.asyncIterator]()
    await expect(events.next()).rejects.toThrow('no promise')
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('serves concurrent next() calls in order', async () => {
    const events = anthropicEvents([start, stop])[Symbol.asyncIterator]()
    const steps = await Promise.all([events.next(), events.next(), events.next()])
    expect(steps.map(({ value }) => value)).toEqual([start, stop, undefined])
  })
})
