import { describe, expect, it } from 'vitest'
import { anthropicEvents } from '../../src/models/anthropic/index.ts'
import { asMessagesEvents } from './support/one-reply.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const start = (id = 'msg_1') => ({ type: 'message_start', message: { id, model: 'm', usage: { input_tokens: 3 } } })
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const close = (index: number) => ({ type: 'content_block_stop', index })
const stop = (stop_reason: string, rest: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason, ...rest },
  usage: { output_tokens: 2 },
})
const end = { type: 'message_stop' }
const text = { type: 'text', text: '' }

describe('raw events of the Messages API', () => {
  it('pass through unchanged, including server tools and pings', async () => {
    expect(await collect(anthropicEvents(asMessagesEvents))).toEqual(asMessagesEvents)
  })

  it('keep thinking with its signature, and redacted thinking', async () => {
    const { blocks } = await replyOf(
      anthropicEvents([
        start(),
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        piece(0, { type: 'thinking_delta', thinking: 'Hm.' }),
        piece(0, { type: 'signature_delta', signature: 'c2ln' }),
        close(0),
        open(1, { type: 'redacted_thinking', data: 'eHh4' }),
        close(1),
        stop('end_turn'),
        end,
      ]),
    )
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'eHh4' },
    ])
  })

  it('keep a fallback block in place, with the blocks before it', async () => {
    const fallback = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' }, trigger: { type: 'refusal' } }
    const { blocks } = await replyOf(
      anthropicEvents([
        start(),
        open(0, text),
        piece(0, { type: 'text_delta', text: 'I' }),
        close(0),
        open(1, fallback),
        close(1),
        open(2, text),
        piece(2, { type: 'text_delta', text: 'Here.' }),
        close(2),
        stop('end_turn'),
        end,
      ]),
    )
    expect(blocks).toEqual([{ type: 'text', text: 'I' }, fallback, { type: 'text', text: 'Here.' }])
  })

  it('keep the extra fields of a call, because the service needs them back', async () => {
    const call = { type: 'tool_use', id: 'a', name: 'Read', input: {}, caller: { type: 'direct' } }
    const { blocks } = await replyOf(anthropicEvents([start(), open(0, call), close(0), stop('tool_use'), end]))
    expect(blocks).toEqual([call])
  })

  it('assemble a compaction, whose deltas have their own format', async () => {
    const events = await collect(
      anthropicEvents([
        start(),
        open(0, { type: 'compaction', content: null }),
        piece(0, { type: 'compaction_delta', content: 'In short.' }),
        close(0),
        stop('compaction'),
        end,
      ]),
    )
    expect(flawsOf(events)).toEqual([])
    expect(readReply(events).blocks).toEqual([{ type: 'compaction', content: 'In short.' }])
  })

  it.each([
    'pause_turn',
    'max_tokens',
    'refusal',
    'stop_sequence',
    'model_context_window_exceeded',
  ])('contain the stop reason: %s', async (reason) => {
    const details = { stop_details: { type: 'refusal', category: 'cyber' } }
    const events = await collect(anthropicEvents([start(), stop(reason, details), end]))
    expect(events).toEqual([start(), stop(reason, details), end])
  })

  it('end with an error that comes in mid-stream, and leave the open block open', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const events = [start(), open(0, text), error]
    expect(await collect(anthropicEvents([...events, close(0), stop('end_turn'), end]))).toEqual(events)
  })

  it('end open blocks at the stop reason, so that no call is missed', async () => {
    const events = [start(), open(0, text), open(1, { type: 'tool_use', id: 'a', name: 'Read', input: {} })]
    expect(await collect(anthropicEvents([...events, stop('tool_use'), end]))).toEqual([
      ...events,
      close(0),
      close(1),
      stop('tool_use'),
      end,
    ])
  })

  it('contain no end if the stream has none', async () => {
    const events = [start(), open(0, { type: 'tool_use', id: 'a', name: 'Read', input: {} })]
    expect(await collect(anthropicEvents(events))).toEqual(events)
  })

  it('ignore unknown types, which count as pings', async () => {
    const events = [start(), { type: 'message_mood', mood: 'good' }, stop('end_turn'), end]
    expect(await collect(anthropicEvents(events))).toEqual([start(), { type: 'ping' }, stop('end_turn'), end])
  })

  it('end with the message, whatever the source sends then', async () => {
    async function* source() {
      yield* [start(), stop('end_turn'), end]
      await new Promise(() => undefined)
    }
    expect(await collect(anthropicEvents(source()))).toEqual([start(), stop('end_turn'), end])
  })

  it('add a missing message_start', async () => {
    const events = await collect(anthropicEvents([open(0, text), close(0), stop('end_turn'), end]))
    expect(flawsOf(events)).toEqual([])
    expect(events[0]).toEqual({ type: 'message_start', message: { id: expect.stringMatching(/^msg_/) } })
  })
})

describe('a stream that repeats itself', () => {
  const said = [open(0, text), piece(0, { type: 'text_delta', text: 'Hi' }), close(0)]

  it('a second start of the same message is ignored', async () => {
    const { blocks, id, error } = await replyOf(
      anthropicEvents([start(), start(), ...said, start(), stop('end_turn'), end]),
    )
    expect({ blocks, id, error }).toEqual({ blocks: [{ type: 'text', text: 'Hi' }], id: 'msg_1', error: undefined })
  })

  it('repeated blocks that have already ended are ignored', async () => {
    const call = { type: 'tool_use', id: 'a', name: 'Read', input: {} }
    const { blocks } = await replyOf(
      anthropicEvents([start(), ...said, start(), ...said, open(1, call), close(1), stop('tool_use'), end]),
    )
    expect(blocks).toEqual([{ type: 'text', text: 'Hi' }, call])
  })

  it('another message in mid-reply restarts the reply', async () => {
    const call = { type: 'tool_use', id: 'a', name: 'Read', input: {} }
    const again = [start('msg_2'), open(0, call), close(0), stop('tool_use'), end]
    const events = await collect(anthropicEvents([start(), ...said, open(1, text), ...again]))
    expect(flawsOf(events)).toEqual([])
    expect(events).toEqual([start(), ...said, open(1, text), ...again])
    expect(readReply(events)).toMatchObject({ id: 'msg_2', blocks: [call] })
  })

  it('a block that starts again before its end is an error, because its arguments would be mixed', async () => {
    const call = { type: 'tool_use', id: 'a', name: 'Read', input: {} }
    const args = piece(0, { type: 'input_json_delta', partial_json: '{"a":1' })
    const events = await collect(
      anthropicEvents([start(), open(0, call), args, start(), open(0, call), args, close(0)]),
    )
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'stream_error' } })
    expect(events.some(({ type }) => type === 'content_block_stop')).toBe(false)
  })
})
