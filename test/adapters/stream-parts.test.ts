import { describe, expect, it } from 'vitest'
import { fromStreamParts } from '../../src/models/ai-sdk/index.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const finish = (finishReason: unknown = { unified: 'stop', raw: 'stop' }, usage?: object) => ({
  type: 'finish',
  finishReason,
  usage,
})
const call = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input })
const toolCall = (toolCallId: string, input: unknown, rest: object = {}) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'Read',
  input,
  ...rest,
})
const inputStart = (id: string, rest: object = {}) => ({ type: 'tool-input-start', id, toolName: 'Read', ...rest })
const inputDelta = (id: string, delta: string) => ({ type: 'tool-input-delta', id, delta })

describe('the calls in stream parts', () => {
  it('are complete if they did not come in pieces; pieces that differ from the finished call are unreadable', async () => {
    const { blocks } = await replyOf(
      fromStreamParts([
        toolCall('a', '{"p":1}'),
        inputStart('b'),
        { type: 'tool-input-end', id: 'b' },
        toolCall('b', '{"p":2}'),
        inputStart('c'),
        inputDelta('c', '{"p":3}'),
        toolCall('c', '{"p": 3}'),
        toolCall('d', { p: 4 }),
        inputStart('e'),
        inputDelta('e', '{"p":5}'),
        toolCall('e', '{"p":0}'),
        finish(),
      ]),
    )
    const lost = { broken: expect.stringContaining('were lost') }
    const inputs = [{ p: 1 }, { p: 2 }, { p: 3 }, { p: 4 }, lost]
    expect(blocks).toEqual(inputs.map((input, at) => call('abcde'[at] as string, 'Read', input)))
  })

  it('of another tool than was announced run as the provider says in the end', async () => {
    const events = await collect(
      fromStreamParts([
        { type: 'tool-input-start', id: 'a', toolName: 'Write' },
        inputDelta('a', '{"p":1}'),
        toolCall('a', '{"p":1}'),
        finish(),
      ]),
    )
    const ended = events.flatMap((event) => (event.type === 'content_block_stop' ? event.index : []))
    const named = events.flatMap((event) => (event.type === 'content_block_start' ? [event.content_block.name] : []))
    expect(named).toEqual(['Write', 'Read'])
    expect(ended).toEqual([1])
  })

  it('end with the call part, which contains the provider’s metadata', async () => {
    const google = (thoughtSignature: string) => ({ providerMetadata: { google: { thoughtSignature } } })
    const openai = { providerMetadata: { openai: { itemId: 'fc_1' } } }
    const events = await collect(
      fromStreamParts([
        inputStart('a', google('s1')),
        inputDelta('a', '{}'),
        { type: 'tool-input-end', id: 'a', ...openai },
        toolCall('a', '{}', google('s2')),
        finish(),
      ]),
    )
    expect(flawsOf(events)).toEqual([])
    const signature = JSON.stringify({ ai_sdk: { google: { thoughtSignature: 's2' }, openai: { itemId: 'fc_1' } } })
    expect(readReply(events).blocks).toEqual([{ ...call('a', 'Read', {}), signature }])
  })

  it('whose pieces are plain text become JSON when complete', async () => {
    const { blocks } = await replyOf(
      fromStreamParts([
        inputStart('a', { inputEncoding: 'text' }),
        inputDelta('a', 'SELECT'),
        toolCall('a', '{"sql":"SELECT"}'),
        finish(),
      ]),
    )
    expect(blocks).toEqual([call('a', 'Read', { sql: 'SELECT' })])
  })

  it('that the provider ran are kept for it with their results, and do not run here', async () => {
    const { blocks, stopReason } = await replyOf(
      fromStreamParts([
        inputStart('s', { providerExecuted: true }),
        inputDelta('s', '{"q":1}'),
        toolCall('s', '{"q":1}', { providerExecuted: true, providerMetadata: { x: { y: 1 } } }),
        { type: 'tool-result', toolCallId: 's', toolName: 'Read', result: 'half', preliminary: true },
        { type: 'tool-result', toolCallId: 's', toolName: 'Read', result: ['found'] },
        { type: 'tool-result', toolCallId: 's', toolName: 'Read', result: 'no', isError: true },
        finish({ unified: 'tool-calls', raw: undefined }),
      ]),
    )
    const head = { toolCallId: 's', toolName: 'Read' }
    expect(blocks).toEqual([
      {
        type: 'ai_sdk_part',
        part: { type: 'tool-call', ...head, input: { q: 1 }, providerExecuted: true, providerOptions: { x: { y: 1 } } },
      },
      { type: 'ai_sdk_part', part: { type: 'tool-result', ...head, output: { type: 'json', value: ['found'] } } },
      { type: 'ai_sdk_part', part: { type: 'tool-result', ...head, output: { type: 'error-json', value: 'no' } } },
    ])
    expect(stopReason).toBe('end_turn')
  })

  it('that the provider ran never run here, even if it says so only at the end', async () => {
    const parts = [
      inputStart('s'),
      inputDelta('s', '{}'),
      toolCall('s', '{}', { providerExecuted: true }),
      finish('stop'),
    ]
    const unknown = await collect(fromStreamParts(parts, { tools: [{ name: 'Write' }] }))
    expect(readReply(unknown).blocks.map(({ type }) => type)).toEqual(['ai_sdk_part'])
    const ours = await collect(fromStreamParts(parts, { tools: [{ name: 'Read' }] }))
    expect(flawsOf(ours)).toEqual([])
    const ended = ours.flatMap((event) => (event.type === 'content_block_stop' ? event.index : []))
    expect(readReply(ours).blocks.map(({ type }, at) => [type, ended.includes(at)])).toEqual([
      ['tool_use', false],
      ['ai_sdk_part', true],
    ])
    expect(readReply(ours).stopReason).toBe('end_turn')
  })

  it('are not repeated by a repeated call part', async () => {
    const { blocks } = await replyOf(fromStreamParts([toolCall('a', '{}'), toolCall('a', '{}'), finish()]))
    expect(blocks).toHaveLength(1)
  })

  it('without an end are ended with the reply', async () => {
    const events = await collect(fromStreamParts([inputStart('a'), inputDelta('a', '{"p'), finish('length')]))
    expect(flawsOf(events)).toEqual([])
    expect(readReply(events)).toMatchObject({
      stopReason: 'max_tokens',
      blocks: [call('a', 'Read', { broken: '{"p' })],
    })
  })
})

describe('the rest of stream parts', () => {
  it('text and reasoning that have the same id are kept apart, and ids may be reused', async () => {
    const { blocks } = await replyOf(
      fromStreamParts([
        { type: 'reasoning-start', id: '0' },
        { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
        { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 'c2ln' } } },
        { type: 'reasoning-end', id: '0' },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'One' },
        { type: 'text-end', id: '0', providerMetadata: { openai: { itemId: 'msg_1' } } },
        { type: 'text-delta', id: '0', delta: 'Two' },
        { type: 'text-end', id: '0' },
        { type: 'text-start', id: '1' },
        { type: 'text-end', id: '1' },
        finish(),
      ]),
    )
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '{"ai_sdk":{"anthropic":{"signature":"c2ln"}}}' },
      { type: 'text', text: 'One', signature: '{"ai_sdk":{"openai":{"itemId":"msg_1"}}}' },
      { type: 'text', text: 'Two' },
    ])
  })

  it('reasoning without text is kept if the provider needs it back', async () => {
    const redacted = { providerMetadata: { anthropic: { redactedData: 'eHh4' } } }
    const { blocks } = await replyOf(
      fromStreamParts([
        { type: 'reasoning-start', id: '0', ...redacted },
        { type: 'reasoning-end', id: '0' },
        { type: 'reasoning-start', id: '1' },
        { type: 'reasoning-end', id: '1' },
        finish(),
      ]),
    )
    expect(blocks).toEqual([
      { type: 'thinking', thinking: '', signature: '{"ai_sdk":{"anthropic":{"redactedData":"eHh4"}}}' },
    ])
  })

  it('files and provider-specific parts are kept, bytes as base64', async () => {
    const bytes = new Uint8Array(20_000).fill(65)
    const { blocks } = await replyOf(
      fromStreamParts([
        { type: 'file', mediaType: 'image/png', data: bytes },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: Uint8Array.of(1, 2, 3) } },
        { type: 'custom', kind: 'openai.compaction', providerMetadata: { openai: { id: 'c' } } },
        { type: 'source', sourceType: 'url', id: '1', url: 'https://example.com' },
        finish(),
      ]),
    )
    expect(blocks.map(({ part }) => part)).toEqual([
      { type: 'file', mediaType: 'image/png', data: Buffer.from(bytes).toString('base64') },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { id: 'c' } } },
    ])
  })

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content-filter', 'refusal'],
    ['tool-calls', 'end_turn'],
    ['other', 'other'],
    [{ unified: 'length', raw: 'max_tokens' }, 'max_tokens'],
    [{ unified: 'stop', raw: 'pause_turn' }, 'pause_turn'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'refusal'],
    [{ unified: 'other', raw: 'model_context_window_exceeded' }, 'model_context_window_exceeded'],
    [null, 'unknown'],
  ])('map the finish reason %j to %s', async (given, reason) => {
    const { stopReason } = await replyOf(fromStreamParts([finish(given)]))
    expect(stopReason).toBe(reason)
  })

  it.each([
    [{ inputTokens: 9, outputTokens: 2, totalTokens: 11, cachedInputTokens: 4, reasoningTokens: 1 }, 5, 0],
    [
      {
        inputTokens: { total: 9, noCache: undefined, cacheRead: 4, cacheWrite: 2 },
        outputTokens: { total: 2, text: 1, reasoning: 1 },
      },
      3,
      2,
    ],
  ])('count tokens as the Messages API does, in every version', async (usage, input, write) => {
    expect((await replyOf(fromStreamParts([finish('stop', usage)]))).usage).toEqual({
      input_tokens: input,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: write,
      output_tokens: 2,
      output_tokens_details: { thinking_tokens: 1 },
    })
  })

  it('an error in mid-stream is an error, and so is the reason "error"', async () => {
    const error = Object.assign(new Error('Busy'), { name: 'AI_APICallError', statusCode: 529 })
    expect((await replyOf(fromStreamParts([{ type: 'error', error }, finish()]))).error).toEqual({
      type: 'overloaded_error',
      message: 'Busy',
    })
    expect((await replyOf(fromStreamParts([{ type: 'error', error: 'lost' }]))).error?.message).toBe('lost')
    expect((await replyOf(fromStreamParts([finish('error')]))).error?.type).toBe('api_error')
  })
})
