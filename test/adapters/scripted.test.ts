import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import { recordedModel } from '../../src/query/scripted/recorded-model.ts'
import type { ScriptTurn } from '../../src/query/scripted/script.ts'
import { type ScriptedModelOptions, scriptedModel } from '../../src/query/scripted/scripted-model.ts'
import { flush } from '../support/turn.ts'
import { asMessagesEvents } from './support/one-reply.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { ask } from './support/requests.ts'
import { flawsOf } from './support/well-formed.ts'

const play = async (turn: ScriptTurn, options?: ScriptedModelOptions) =>
  collect(await scriptedModel([turn], options)(ask()))

describe('a scripted model', () => {
  it('follows the script, turn by turn', async () => {
    const model = scriptedModel([
      [
        { thinking: 'Hm.', signature: 'c2ln' },
        'Let me see.',
        { call: 'Read', input: { path: 'a.ts' } },
        { call: 'List', id: 'mine' },
      ],
      [{ text: 'And ' }, { call: 'Read', input: {} }],
      'Done.',
    ])
    const first = await collect(await model(ask()))
    expect(flawsOf(first)).toEqual([])
    expect(readReply(first)).toMatchObject({
      id: 'msg_1',
      stopReason: 'tool_use',
      blocks: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.ts' } },
        { type: 'tool_use', id: 'mine', name: 'List', input: {} },
      ],
    })
    expect((await replyOf(await model(ask()))).blocks[1]).toMatchObject({ id: 'toolu_2' })
    expect(await replyOf(await model(ask()))).toMatchObject({
      id: 'msg_3',
      stopReason: 'end_turn',
      blocks: [{ type: 'text', text: 'Done.' }],
    })
  })

  it('throws if it is asked more often than it has turns', async () => {
    const model = scriptedModel(['One.'])
    await collect(await model(ask()))
    const thrown = await collect(await model(ask())).catch((error) => error)
    expect(isSignalboxError(thrown) && thrown.message).toBe(
      'The script has ended: it has 1 turns, and the model was asked once more. Add a turn.',
    )
  })

  it('records its requests', async () => {
    const model = scriptedModel(['One.', 'Two.'])
    const messages = [{ role: 'user' as const, content: 'First' }]
    await collect(await model(ask({ messages })))
    messages.push({ role: 'user', content: 'Later' })
    await collect(await model(ask({ messages })))
    expect(model.requests.map((request) => request.messages.length)).toEqual([1, 2])
  })

  it('can read its request', async () => {
    const model = scriptedModel([async ({ messages }) => [`You said: ${messages.at(-1)?.content}`], () => 'Yes.'])
    expect((await replyOf(await model(ask()))).blocks).toEqual([{ type: 'text', text: 'You said: Go.' }])
    expect((await replyOf(await model(ask()))).blocks).toEqual([{ type: 'text', text: 'Yes.' }])
  })

  it('splits text into pieces of one length, and never splits a character', async () => {
    const texts = (await play('a😀bc', { chunk: 2 })).flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : [],
    )
    expect(texts).toEqual(['a😀', 'bc'])
    expect(await play('a😀bc', { chunk: 2 })).toEqual(await play('a😀bc', { chunk: 2 }))
  })

  it('can send invalid arguments, and leave a block open', async () => {
    const closed = await play([{ rawCall: 'Read', json: '{"a":' }])
    expect(readReply(closed).blocks).toMatchObject([{ name: 'Read', input: { broken: '{"a":' } }])
    const open = await play([{ rawCall: 'Read', json: '{"a":', open: true }, { cut: true }])
    expect(open.map(({ type }) => type)).toEqual(['message_start', 'content_block_start', 'content_block_delta'])
  })

  it('can stop for any reason, break off, fail, and send any event', async () => {
    expect(
      readReply(await play(['Well', { stop: 'max_tokens', usage: { output_tokens: 1 } }, 'not this'])).stopReason,
    ).toBe('max_tokens')
    expect((await play(['Well', { cut: true }, 'not this'])).at(-1)?.type).toBe('content_block_stop')
    const error = new Error('reset')
    await expect(play(['Well', { error }])).rejects.toBe(error)
    await expect(play([{ error: 'just text' }])).rejects.toBe('just text')
    const event = { type: 'error' as const, error: { type: 'overloaded_error', message: 'x' } }
    expect(readReply(await play(['Well', { event }, { cut: true }])).error).toEqual(event.error)
  })

  it('can fail before its first event', async () => {
    const reader = (await scriptedModel([[{ error: 'no' }]])(ask()))[Symbol.asyncIterator]()
    await expect(reader.next()).rejects.toBe('no')
  })

  it('waits on its clock', async () => {
    const clock = new SimulatedClock()
    const seen: string[] = []
    const model = scriptedModel([['One', { wait: 100 }, 'Two']], { clock })
    const reading = (async () => {
      for await (const event of await model(ask())) seen.push(event.type)
    })()
    await flush()
    expect(seen.filter((type) => type === 'content_block_start')).toHaveLength(1)
    clock.increment(99)
    await flush()
    expect(seen.filter((type) => type === 'content_block_start')).toHaveLength(1)
    clock.increment(1)
    await reading
    expect(seen.at(-1)).toBe('message_stop')
  })

  it('waits before each piece with pace', async () => {
    const clock = new SimulatedClock()
    const model = scriptedModel(['abc'], { clock, chunk: 1, pace: 10 })
    let pieces = 0
    const reading = (async () => {
      for await (const event of await model(ask())) if (event.type === 'content_block_delta') pieces++
    })()
    for (const expected of [0, 1, 2, 3]) {
      await flush()
      expect(pieces).toBe(expected)
      clock.increment(10)
    }
    await reading
  })

  it.each(['abort', 'leave'] as const)('stops waiting when the reader is gone: %s', async (way) => {
    const timers = new Set<unknown>()
    const clock = {
      setTimeout: () => {
        const timer = {}
        timers.add(timer)
        return timer
      },
      clearTimeout: (timer: unknown) => void timers.delete(timer),
    }
    const host = new AbortController()
    const model = scriptedModel([['One', { wait: 1e6 }, 'Two']], { clock, chunk: 100 })
    const reader = (await model(ask({ signal: host.signal })))[Symbol.asyncIterator]()
    for (let n = 0; n < 4; n++) await reader.next()
    const pending = reader.next()
    await flush()
    expect(timers.size).toBe(1)
    if (way === 'abort') host.abort()
    else await reader.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
    await flush()
    expect(timers.size).toBe(0)
  })

  it('rejects invalid options at once', () => {
    expect(() => scriptedModel([], { chunk: 0 })).toThrow('chunk: expected a number of at least 1, received 0.')
    expect(() => scriptedModel('Hello' as never)).toThrow('turns: expected an array of turns, received "Hello".')
  })
})

describe('a recorded model', () => {
  const recording = asMessagesEvents.map((event) => JSON.stringify(event))

  it('replies as it was recorded, reply by reply', async () => {
    const model = recordedModel([...recording, '', ...recording.slice(0, 3)].join('\r\n'))
    expect(await collect(await model(ask()))).toEqual(asMessagesEvents)
    expect(await collect(await model(ask()))).toEqual(asMessagesEvents.slice(0, 3))
    await expect(collect(await model(ask()))).rejects.toThrow('The script has ended')
  })

  it('accepts script items between the events', async () => {
    const clock = new SimulatedClock()
    const lines = [...recording, '{"wait":50}', ...recording.slice(0, 3), '{"error":{"status":529}}']
    const model = recordedModel(lines, { clock })
    expect(await collect(await model(ask()))).toEqual(asMessagesEvents)
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const event of await model(ask())) seen.push(event)
    })().catch((error) => error)
    await flush()
    expect(seen).toEqual([])
    clock.increment(50)
    expect(await reading).toEqual({ status: 529 })
    expect(seen).toEqual(asMessagesEvents.slice(0, 3))
  })

  it('names a line that is not an event', () => {
    expect(() => recordedModel([...recording.slice(0, 2), '{"type":'])).toThrow(
      'Line 3 of the recording: expected an event of the Messages API or a script item, received {"type":',
    )
    expect(() => recordedModel('7')).toThrow(
      'Line 1 of the recording: expected an event of the Messages API or a script item, received 7',
    )
  })
})
