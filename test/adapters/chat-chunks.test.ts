import { describe, expect, it } from 'vitest'
import { fromChatChunks } from '../../src/models/openai/index.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})
const calls = (...tool_calls: object[]) => chunk({ tool_calls })
const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args?: string) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})
const call = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input })
const stop = chunk({}, 'tool_calls')

/** The order in which blocks begin and end. */
const outline = async (chunks: object[]) =>
  (await collect(fromChatChunks(chunks))).flatMap((event) =>
    event.type === 'content_block_start'
      ? `+${event.index}`
      : event.type === 'content_block_stop'
        ? `-${event.index}`
        : event.type === 'message_delta'
          ? 'stop'
          : [],
  )

describe('the calls of a chat reply', () => {
  it('end when the next begins, or with the reason to stop', async () => {
    const chunks = [
      calls(piece(0, 'a', 'Read', '{"p":1}')),
      calls(piece(1, 'b', 'Read', '{"p":2}')),
      chunk({ content: 'and' }),
      stop,
    ]
    expect(await outline(chunks)).toEqual(['+0', '-0', '+1', '-1', '+2', '-2', 'stop'])
  })

  it('whose pieces alternate stay open until they are complete, and end in order', async () => {
    const chunks = [
      calls(piece(0, 'a', 'Read', ''), piece(1, 'b', 'Read', '')),
      calls(piece(1, undefined, undefined, '{"p":')),
      calls(piece(0, undefined, undefined, '{"p":')),
      calls(piece(1, undefined, undefined, '2}')),
      calls(piece(0, undefined, undefined, '1}')),
      stop,
    ]
    expect(await outline(chunks)).toEqual(['+0', '+1', '-0', '-1', 'stop'])
    const { blocks } = await replyOf(fromChatChunks(chunks))
    expect(blocks).toEqual([call('a', 'Read', { p: 1 }), call('b', 'Read', { p: 2 })])
  })

  it('without an index belong together by id, or follow the last that had a name', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(piece(undefined, 'a', 'Read', '{"p"')),
        calls(piece(undefined, 'a', undefined, ':1')),
        calls(piece(undefined, undefined, undefined, '}')),
        calls(piece(undefined, 'b', 'Read', '{"p":2}')),
        stop,
      ]),
    )
    expect(blocks).toEqual([call('a', 'Read', { p: 1 }), call('b', 'Read', { p: 2 })])
  })

  it('that all have the same index are separated by id', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([calls(piece(0, 'a', 'Read', '{"p":1}')), calls(piece(0, 'b', 'Read', '{"p":2}')), stop]),
    )
    expect(blocks).toEqual([call('a', 'Read', { p: 1 }), call('b', 'Read', { p: 2 })])
  })

  it('that all have the same index and no id are separated by a name after complete arguments', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(piece(0, undefined, 'Read', '{"p"')),
        calls(piece(0, undefined, 'Read', ':1}')),
        calls(piece(0, undefined, 'Read', '{"p":2}')),
        chunk({ content: 'and' }),
        calls(piece(0, undefined, 'Read', '{"p":3}')),
        stop,
      ]),
    )
    expect(blocks.map(({ input, text }) => input ?? text)).toEqual([{ p: 1 }, { p: 2 }, 'and', { p: 3 }])
  })

  it('that were complete accept no more pieces', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(piece(0, 'a', 'Read', '{}')),
        calls(piece(1, 'b', 'Read', '{')),
        calls(piece(0, 'a', undefined, '{"late":1}')),
        calls(piece(0, undefined, undefined, '{"late":2}')),
        calls(piece(1, 'b', undefined, '}')),
        stop,
      ]),
    )
    expect(blocks).toEqual([call('a', 'Read', {}), call('b', 'Read', {})])
  })

  it('that repeat id and name in every piece are one call', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([calls(piece(0, 'a', 'Read', '{"p"')), calls(piece(0, 'a', 'Read', ':1}')), stop]),
    )
    expect(blocks).toEqual([call('a', 'Read', { p: 1 })])
  })

  it('without an id keep an empty one, and wait for a late name', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(piece(0, undefined, 'Read', '{}')),
        calls({ index: 1, id: 'b' }),
        calls(piece(1, undefined, undefined, '{"p":')),
        calls(piece(1, undefined, 'List', '2}')),
        calls({ index: 2, id: 'c', function: { arguments: '{}' } }),
        stop,
      ]),
    )
    expect(blocks).toEqual([call('', 'Read', {}), call('b', 'List', { p: 2 }), call('c', '', {})])
  })

  it('pass on their arguments unchanged, also invalid ones', async () => {
    const { blocks } = await replyOf(fromChatChunks([calls(piece(0, 'a', 'Read', '{"p": [1,}')), stop]))
    expect(blocks).toEqual([call('a', 'Read', { broken: '{"p": [1,}' })])
  })

  it('may have their arguments as an object', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([calls({ index: 0, id: 'a', function: { name: 'Read', arguments: { p: [1] } } }), stop]),
    )
    expect(blocks).toEqual([call('a', 'Read', { p: [1] })])
  })

  it('keep extra fields of the service', async () => {
    const extra_content = { google: { thought_signature: 'c2ln' } }
    const { blocks } = await replyOf(
      fromChatChunks([calls({ ...piece(0, 'a', 'Read', '{}'), type: 'function', extra_content }), stop]),
    )
    expect(blocks).toEqual([
      { ...call('a', 'Read', {}), signature: JSON.stringify({ openai_chat: { extra_content } }) },
    ])
  })

  it('of an unknown type, which the service runs, are ignored', async () => {
    const own = { index: 0, id: 's', type: 'web_search', web_search: { query: 'x' } }
    const { blocks, stopReason } = await replyOf(
      fromChatChunks([calls(own), chunk({ content: 'Found.' }), chunk({}, 'stop')]),
    )
    expect({ blocks, stopReason }).toEqual({ blocks: [{ type: 'text', text: 'Found.' }], stopReason: 'end_turn' })
  })

  it.each([
    'length',
    'content_filter',
  ])('never end when they were cut off before their first argument: %s', async (reason) => {
    const chunks = [calls(piece(0, 'a', 'Read', '')), calls(piece(1, 'b', 'Read', '')), chunk({}, reason)]
    expect(await outline(chunks)).toEqual(['+0', '-0', 'stop'])
  })

  it('may have a name that comes in pieces', async () => {
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(piece(0, 'a', 'Read', '')),
        calls(piece(0, undefined, 'All', '')),
        calls(piece(0, undefined, undefined, '{}')),
        calls(piece(1, 'b', 'Read', '')),
        calls(piece(1, 'b', 'Read', '{}')),
        stop,
      ]),
    )
    expect(blocks).toEqual([call('a', 'ReadAll', {}), call('b', 'Read', {})])
  })

  it('of a custom tool carry its text as `input`', async () => {
    const custom = (input: string, rest: object = {}) => ({ index: 0, ...rest, custom: { input, name: 'sql' } })
    const { blocks } = await replyOf(
      fromChatChunks([
        calls(custom('SELECT "a\n', { id: 'a', type: 'custom' })),
        calls(custom('\ud83d')),
        calls(custom('\ude00"')),
        stop,
      ]),
    )
    expect(blocks).toEqual([call('a', 'sql', { input: 'SELECT "a\n😀"' })])
  })

  it('inside a wrapper are unwrapped', async () => {
    const text = JSON.stringify({
      tool_uses: [
        { recipient_name: 'functions.Read', parameters: { p: 1 } },
        { recipient_name: 'functions.List', parameters: {} },
      ],
    })
    const wrapper = [
      calls(piece(0, 'w', 'multi_tool_use.parallel', text.slice(0, 9))),
      calls(piece(0, undefined, undefined, text.slice(9))),
      stop,
    ]
    expect((await replyOf(fromChatChunks(wrapper))).blocks).toEqual([
      call('w_0', 'Read', { p: 1 }),
      call('w_1', 'List', {}),
    ])
    const tools = [{ name: 'Read' }]
    expect((await replyOf(fromChatChunks(wrapper, { tools }))).blocks).toEqual([
      call('w', 'multi_tool_use.parallel', JSON.parse(text)),
    ])
  })

  it('that were announced when the stream broke off stay open', async () => {
    const events = await collect(fromChatChunks([calls(piece(0, 'a', 'Read', '{"p":1}'))]))
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'content_block_start', 'content_block_delta'])
  })
})

describe('the rest of a chat reply', () => {
  it.each([
    ['stop', 'end_turn'],
    ['tool_calls', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['odd', 'odd'],
  ])('maps the finish reason %s to %s', async (finish, reason) => {
    const { stopReason } = await replyOf(fromChatChunks([chunk({ content: 'a' }), chunk({}, finish)]))
    expect(stopReason).toBe(reason)
  })

  it.each(['stop', 'tool_calls', 'odd'])('with calls, %s means tool_use', async (finish) => {
    const { stopReason } = await replyOf(fromChatChunks([calls(piece(0, 'a', 'Read', '{}')), chunk({}, finish)]))
    expect(stopReason).toBe('tool_use')
  })

  it('a refusal becomes text and the stop reason', async () => {
    const { blocks, stopReason } = await replyOf(
      fromChatChunks([chunk({ refusal: 'I can' }), chunk({ refusal: 'not.' }), chunk({}, 'stop')]),
    )
    expect(blocks).toEqual([{ type: 'text', text: 'I cannot.' }])
    expect(stopReason).toBe('refusal')
  })

  it.each([
    'reasoning_content',
    'reasoning',
  ])('reasoning in %s becomes thinking that remembers its field', async (field) => {
    const { blocks } = await replyOf(
      fromChatChunks([
        chunk({ [field]: 'Hm' }),
        chunk({ [field]: '.' }),
        chunk({ content: 'Yes.' }),
        chunk({}, 'stop'),
      ]),
    )
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: JSON.stringify({ openai_chat: { field } }) },
      { type: 'text', text: 'Yes.' },
    ])
  })

  it('reasoning details are joined, and kept with the thinking', async () => {
    const detail = (text: string, rest: object = {}) => ({ type: 'reasoning.text', text, index: 0, ...rest })
    const sealed = { type: 'reasoning.encrypted', data: 'gAAA', id: 'r1', index: 1 }
    const { blocks } = await replyOf(
      fromChatChunks([
        chunk({ reasoning: 'Hm', reasoning_details: [detail('Hm', { signature: null })] }),
        chunk({ reasoning: '.', reasoning_details: [detail('.', { signature: 'c2ln' })] }),
        chunk({ content: 'So:' }),
        chunk({ reasoning_details: [sealed, sealed], tool_calls: [piece(0, 'a', 'Read', '{}')] }),
        stop,
      ]),
    )
    const kept = (data: object) => JSON.stringify({ openai_chat: data })
    expect(blocks).toEqual([
      {
        type: 'thinking',
        thinking: 'Hm.',
        signature: kept({ field: 'reasoning', reasoning_details: [detail('Hm.', { signature: 'c2ln' })] }),
      },
      { type: 'text', text: 'So:' },
      { type: 'thinking', thinking: '', signature: kept({ reasoning_details: [sealed, sealed] }) },
      call('a', 'Read', {}),
    ])
  })

  it('thinking may be among the parts of the content', async () => {
    const part = (text: string) => chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })
    const { blocks } = await replyOf(
      fromChatChunks([part('Hm'), part('.'), chunk({ content: 'Yes.' }), chunk({}, 'stop')]),
    )
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '{"openai_chat":{"field":"content"}}' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  it('a signature on text is kept with it', async () => {
    const extra_content = { google: { thought_signature: 'c2ln' } }
    const { blocks } = await replyOf(
      fromChatChunks([chunk({ content: 'Yes.' }), chunk({ content: '', extra_content }), chunk({}, 'stop')]),
    )
    expect(blocks).toEqual([
      { type: 'text', text: 'Yes.', signature: JSON.stringify({ openai_chat: { extra_content } }) },
    ])
  })

  it.each([
    [{ message: 'Provider failed', code: 502 }, 'api_error', 'Provider failed'],
    [undefined, 'api_error', 'The service ended the reply because of an error.'],
  ])('the finish reason "error" is an error: %j', async (given, type, message) => {
    const last = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'error', error: given }] }
    const { error, stopReason } = await replyOf(fromChatChunks([chunk({ content: 'a' }), last]))
    expect({ error, stopReason }).toEqual({ error: { type, message }, stopReason: undefined })
  })

  it.each([
    [429, 'rate_limit_error'],
    [502, 'api_error'],
    [529, 'overloaded_error'],
  ])('an error in mid-stream may have a status as its code: %i', async (code, type) => {
    const { error } = await replyOf(fromChatChunks([chunk({ content: 'a' }), { error: { message: 'No', code } }]))
    expect(error).toEqual({ type, message: 'No' })
  })

  it('usage may come with the finish reason, after it, or not at all', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2 }
    const after = [chunk({ content: 'a' }), chunk({}, 'stop'), { id: 'c', choices: [], usage }]
    const beside = [chunk({ content: 'a' }), { ...chunk({}, 'stop'), usage }]
    for (const chunks of [after, beside]) {
      const events = await collect(fromChatChunks(chunks))
      expect(flawsOf(events)).toEqual([])
      expect(events.at(-1)).toEqual({ type: 'message_stop' })
      expect(readReply(events)).toMatchObject({ stopReason: 'end_turn', usage: { input_tokens: 7, output_tokens: 2 } })
    }
    const events = await collect(fromChatChunks(after.slice(0, 2)))
    expect(events.at(-1)).toEqual({ type: 'message_stop' })
    expect(readReply(events).usage).toBeUndefined()
  })

  it('a connection that breaks after the finish reason loses nothing', async () => {
    async function* source() {
      yield* [chunk({ content: 'a' }), chunk({}, 'stop')]
      throw new Error('reset')
    }
    expect((await collect(fromChatChunks(source()))).at(-1)).toEqual({ type: 'message_stop' })
  })

  it('an error in mid-stream is an error', async () => {
    const { error } = await replyOf(
      fromChatChunks([chunk({ content: 'a' }), { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }]),
    )
    expect(error).toEqual({ type: 'rate_limit_error', message: 'Slow down' })
  })

  it('has a unique id, even if the service repeats ids', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await replyOf(fromChatChunks([chunk({}, 'stop')]))).id))
    expect(new Set(ids).size).toBe(2)
  })

  it('other choices, and chunks that a filter sends ahead, are ignored', async () => {
    const { blocks, id } = await replyOf(
      fromChatChunks([
        { id: '', choices: [], prompt_filter_results: [] },
        { ...chunk({}), choices: [{ index: 1, delta: { content: 'other' } }] },
        chunk({ content: [{ type: 'text', text: 'mine' }] }),
        chunk({}, 'stop'),
      ]),
    )
    expect({ blocks, id }).toEqual({ blocks: [{ type: 'text', text: 'mine' }], id: expect.stringMatching(/^c_/) })
  })
})
