import { describe, expect, it } from 'vitest'
import { approvalRequest, fromResponsesEvents } from '../../src/models/openai/index.ts'
import { asResponsesEvents } from './support/one-reply.ts'
import { collect, readReply, replyOf } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const created = { type: 'response.created', response: { id: 'resp_1', model: 'm' } }
const completed = (response: object = {}) => ({ type: 'response.completed', response: { id: 'resp_1', ...response } })
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
const args = (output_index: number, delta: string, item_id = 'x') => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  item_id,
  delta,
})
const fn = (call_id: string, name: string, text = '') => ({ type: 'function_call', call_id, name, arguments: text })
const call = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input })
const says = (type: string, rest: object) => ({ type: `response.${type}`, output_index: 0, ...rest })

describe('the calls of a response', () => {
  it('belong together by output index: ids may differ from event to event', async () => {
    const { blocks } = await replyOf(
      fromResponsesEvents([
        created,
        added(0, { ...fn('call_a', 'Read'), id: 'r1' }),
        added(1, { ...fn('call_b', 'List'), id: 'r2' }),
        args(1, '{"q"', 'r3'),
        args(0, '{"p"', 'r4'),
        args(1, ':2}', 'r5'),
        args(0, ':1}', 'r6'),
        done(0, { ...fn('call_a', 'Read', '{"p":1}'), id: 'r7' }),
        done(1, { ...fn('call_b', 'List', '{"q":2}'), id: 'r8' }),
        completed(),
      ]),
    )
    expect(blocks.map(({ signature, ...block }) => block)).toEqual([
      call('call_a', 'Read', { p: 1 }),
      call('call_b', 'List', { q: 2 }),
    ])
  })

  it('without an output index belong together by id, or follow the last', async () => {
    const bare = (event: object) => ({ ...event, output_index: undefined })
    const { blocks } = await replyOf(
      fromResponsesEvents([
        created,
        bare(added(0, { ...fn('call_a', 'Read'), id: 'a' })),
        bare(added(1, { ...fn('call_b', 'Read'), id: 'b' })),
        bare(args(0, '{"p":1}', 'a')),
        bare(args(0, '{"p":2}', 'unknown')),
        bare(done(0, { ...fn('call_a', 'Read', '{"p":1}'), id: 'a' })),
        bare(done(1, { ...fn('call_b', 'Read', '{"p":2}'), id: 'b' })),
        bare(done(2, { ...fn('call_c', 'Read', '{"p":3}'), id: 'c' })),
        completed(),
      ]),
    )
    expect(blocks.map(({ id, input }) => [id, input])).toEqual([
      ['call_a', { p: 1 }],
      ['call_b', { p: 2 }],
      ['call_c', { p: 3 }],
    ])
  })

  it('are complete if they did not come in pieces; pieces that differ from the finished call are unreadable', async () => {
    const { blocks } = await replyOf(
      fromResponsesEvents([
        created,
        added(0, fn('a', 'Read')),
        done(0, fn('a', 'Read', '{"p":1}')),
        added(1, fn('b', 'Read')),
        { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"p":2}' },
        done(1, fn('b', 'Read', '{"p":2}')),
        done(2, fn('c', 'Read', '{"p":3}')),
        added(3, fn('d', 'Read')),
        args(3, '{"p":4}'),
        done(3, fn('d', 'Read', '{"p":5}')),
        added(4, fn('e', 'Read')),
        args(4, '{"p": 6}'),
        done(4, fn('e', 'Read', '{"p":6}')),
        completed(),
      ]),
    )
    expect(blocks.map(({ id, input }) => [id, input])).toEqual([
      ['a', { p: 1 }],
      ['b', { p: 2 }],
      ['c', { p: 3 }],
      ['d', { broken: expect.stringContaining('were lost') }],
      ['e', { p: 6 }],
    ])
  })

  it('of a custom tool carry its text as `input`', async () => {
    const item = { type: 'custom_tool_call', id: 'ct_1', call_id: 'a', name: 'sql', input: '' }
    const delta = (text: string) => ({ type: 'response.custom_tool_call_input.delta', output_index: 0, delta: text })
    const events = [
      created,
      added(0, item),
      delta('SELECT "x'),
      delta('"\n'),
      done(0, { ...item, input: 'SELECT "x"\n' }),
    ]
    const { blocks } = await replyOf(fromResponsesEvents([...events, completed()]))
    expect(blocks).toEqual([{ ...call('a', 'sql', { input: 'SELECT "x"\n' }), signature: '{"openai":{"id":"ct_1"}}' }])
  })

  it.each(['parallel', 'multi_tool_use.parallel'])('inside a wrapper are unwrapped: %s', async (name) => {
    const text = JSON.stringify({
      tool_uses: [
        { recipient_name: 'functions.Read', parameters: { p: 1 } },
        { recipient_name: 'functions.List', parameters: { q: 2 } },
      ],
    })
    const events = [
      created,
      added(0, fn('w', name)),
      args(0, text.slice(0, 20)),
      args(0, text.slice(20)),
      done(0, fn('w', name, text)),
      completed(),
    ]
    const { blocks, stopReason } = await replyOf(fromResponsesEvents(events))
    expect(blocks).toEqual([call('w_0', 'Read', { p: 1 }), call('w_1', 'List', { q: 2 })])
    expect(stopReason).toBe('tool_use')
    const own = await replyOf(fromResponsesEvents(events, { tools: [{ name }] }))
    expect(own.blocks).toEqual([call('w', name, JSON.parse(text))])
  })

  it.each([
    '{"tool_uses":[]}',
    '{"tool_uses":[{"recipient_name":"functions.Read","parameters":{}},{"recipient_name":"web.run","parameters":{}}]}',
    '{"tool_uses":[{"recipient_name":"functions.Read","parameters":[]}]}',
    '{"tool_uses":',
    '[]',
  ])('a malformed wrapper stays a call of an unknown tool: %s', async (text) => {
    const { blocks } = await replyOf(fromResponsesEvents([created, done(0, fn('w', 'parallel', text)), completed()]))
    expect(blocks.map(({ id, name }) => [id, name])).toEqual([['w', 'parallel']])
  })

  it('that the service runs itself are kept for it, and do not run here', async () => {
    const items = [
      'web_search_call',
      'file_search_call',
      'code_interpreter_call',
      'mcp_call',
      'image_generation_call',
      'compaction',
    ].map((type, at) => ({ type, id: `i_${at}`, name: 'x', arguments: '{}' }))
    const events = items.flatMap((item, at) => [added(at, item), args(at, '{}'), done(at, item)])
    const { blocks, stopReason } = await replyOf(fromResponsesEvents([created, ...events, completed()]))
    expect(blocks).toEqual(items.map((item) => ({ type: 'openai_item', item })))
    expect(stopReason).toBe('end_turn')
  })
})

describe('calls that a service runs itself', () => {
  const item = { type: 'custom_tool_call', id: 'x_1', call_id: 'x', name: 'x_keyword_search', input: '{"query":"a"}' }
  const events = [created, added(0, { ...item, input: '' }), done(0, item), completed()]
  const tools = [{ name: 'Read' }]

  it('as an unknown custom tool do not run here, if the service has its own tools', async () => {
    const { blocks, stopReason } = await replyOf(fromResponsesEvents(events, { tools, hasServiceTools: true }))
    expect({ blocks, stopReason }).toEqual({ blocks: [{ type: 'openai_item', item }], stopReason: 'end_turn' })
  })

  it('are distinguished from calls with an invented name', async () => {
    for (const options of [{ tools }, { tools: [{ name: item.name }], hasServiceTools: true }, {}]) {
      const { blocks, stopReason } = await replyOf(fromResponsesEvents(events, options))
      expect(blocks).toMatchObject([{ type: 'tool_use', name: item.name }])
      expect(stopReason).toBe('tool_use')
    }
  })

  it('that need approval stop the reply', async () => {
    const asked = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'delete', server_label: 'db', arguments: '{}' }
    const { blocks, stopReason } = await replyOf(fromResponsesEvents([created, done(0, asked), completed()]))
    expect(stopReason).toBe('approval_required')
    expect(blocks.map(approvalRequest)).toEqual([{ id: 'mcpr_1', name: 'delete', server: 'db', arguments: '{}' }])
    expect(approvalRequest({ type: 'text', text: 'x' })).toBeUndefined()
  })

  it('calls that were cut off before their first argument never end', async () => {
    const response = { id: 'resp_1', status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    const cut = [created, added(0, fn('a', 'Read')), { type: 'response.incomplete', response }]
    const all = await collect(fromResponsesEvents(cut))
    expect(all.some(({ type }) => type === 'content_block_stop')).toBe(false)
    expect(readReply(all).stopReason).toBe('max_tokens')
  })
})

describe('the rest of a response', () => {
  it('reasoning becomes thinking, and keeps the data that the service needs back', async () => {
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'First.' },
        { type: 'summary_text', text: 'Then.' },
      ],
      encrypted_content: 'gAAA',
    }
    const delta = (summary_index: number, text: string) =>
      says('reasoning_summary_text.delta', { summary_index, delta: text })
    const { blocks } = await replyOf(
      fromResponsesEvents([
        created,
        added(0, { type: 'reasoning', id: 'rs_0', summary: [] }),
        delta(0, 'Fir'),
        delta(0, 'st.'),
        delta(1, 'Then.'),
        done(0, item),
        done(1, { type: 'reasoning', id: 'rs_2', summary: [], content: [], encrypted_content: 'gBBB' }),
        completed(),
      ]),
    )
    const { type, ...kept } = item
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'First.\n\nThen.', signature: JSON.stringify({ openai: kept }) },
      {
        type: 'thinking',
        thinking: '',
        signature: '{"openai":{"id":"rs_2","summary":[],"encrypted_content":"gBBB"}}',
      },
    ])
  })

  it('text has a block per part, and remembers its message', async () => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', phase: 'commentary', status: 'completed' }
    const delta = (content_index: number, text: string) => says('output_text.delta', { content_index, delta: text })
    const { blocks } = await replyOf(
      fromResponsesEvents([
        created,
        added(0, { ...item, content: [] }),
        delta(0, 'One'),
        delta(1, 'Two'),
        done(0, {
          ...item,
          content: [
            { type: 'output_text', text: 'One' },
            { type: 'output_text', text: 'Two' },
            { type: 'output_text', text: 'Three' },
          ],
        }),
        completed(),
      ]),
    )
    const signature = '{"openai":{"id":"msg_1","phase":"commentary"}}'
    expect(blocks).toEqual(['One', 'Two', 'Three'].map((text) => ({ type: 'text', text, signature })))
  })

  it('a refusal becomes text and the stop reason', async () => {
    const item = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
    const streamed = [added(0, item), says('refusal.delta', { content_index: 0, delta: 'No.' }), done(0, item)]
    for (const events of [streamed, [added(0, item), says('refusal.done', { content_index: 0, refusal: 'No.' })]]) {
      const { blocks, stopReason } = await replyOf(fromResponsesEvents([created, ...events, completed()]))
      expect(blocks).toEqual([{ type: 'text', text: 'No.' }])
      expect(stopReason).toBe('refusal')
    }
  })

  it.each([
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['odd', 'odd'],
  ])('maps the reason of an incomplete response: %s to %s', async (reason, stopReason) => {
    const response = { id: 'resp_1', status: 'incomplete', incomplete_details: { reason } }
    const events = [created, added(0, fn('a', 'Read')), args(0, '{"p'), { type: 'response.incomplete', response }]
    const all = await collect(fromResponsesEvents(events))
    expect(flawsOf(all)).toEqual([])
    expect(readReply(all)).toMatchObject({ stopReason, blocks: [call('a', 'Read', { broken: '{"p' })] })
  })

  it('items without events are taken from the final response', async () => {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      fn('a', 'Read', '{}'),
    ]
    const { blocks, id } = await replyOf(fromResponsesEvents([completed({ output })]))
    expect({ id, blocks }).toEqual({ id: 'resp_1', blocks: [{ type: 'text', text: 'Hi' }, call('a', 'Read', {})] })
  })

  it.each([
    [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'Oh' } } }, 'api_error', 'Oh'],
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow' }, 'rate_limit_error', 'Slow'],
    [
      { type: 'response.failed', response: { error: { code: 'server_is_overloaded', message: 'Busy' } } },
      'overloaded_error',
      'Busy',
    ],
    [{ type: 'error', code: 'slow_down', message: 'Slow' }, 'rate_limit_error', 'Slow'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }, 'overloaded_error', 'Busy'],
    [{ type: 'response.failed', response: { error: { code: 'bio_policy', message: 'No' } } }, 'bio_policy', 'No'],
    [{ type: 'response.failed' }, 'api_error', 'The service gave up on its response and did not say why.'],
  ])('an error in mid-stream is an error: %j', async (event, type, message) => {
    const { error, stopReason } = await replyOf(fromResponsesEvents([created, event, completed()]))
    expect({ error, stopReason }).toEqual({ error: { type, message }, stopReason: undefined })
  })

  it('without its last event it has no end', async () => {
    const events = await collect(fromResponsesEvents(asResponsesEvents.slice(0, -1)))
    expect(events.some(({ type }) => type === 'message_delta' || type === 'message_stop')).toBe(false)
  })
})
