import { describe, expect, it } from 'vitest'
import type { BlockLike, MessageLike } from '../../src/messages/message.ts'
import type { Model } from '../../src/models/model.ts'
import { approvalAnswer, openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { chatFlaws } from '../support/services/chat-flaws.ts'
import { responsesFlaws } from '../support/services/responses-flaws.ts'
import { collect } from './support/read-reply.ts'
import { type Asked, ask, readSchema } from './support/requests.ts'

type Sent = Record<string, unknown>

const recorder = () => {
  const sent: Sent[] = []
  const create = async (params: Sent) => {
    sent.push(params)
    return []
  }
  return { sent, client: { responses: { create }, chat: { completions: { create } } } }
}

async function askWith(model: Model, sent: Sent[], flawsOf: (body: Sent) => string[], request: Asked): Promise<Sent> {
  await collect(await model(ask(request)))
  const body = sent[0] as Sent
  expect(flawsOf(body)).toEqual([])
  return body
}
const toResponses = (request: Asked, options: object = {}) => {
  const { client, sent } = recorder()
  return askWith(openaiResponsesModel(client, { model: 'm', ...options }), sent, responsesFlaws, request)
}
const toChat = (request: Asked, options: object = {}) => {
  const { client, sent } = recorder()
  return askWith(openaiChatModel(client, { model: 'm', ...options }), sent, chatFlaws, request)
}

const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const link = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
const pdf = {
  type: 'document',
  title: 'a.pdf',
  source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
}
const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } }
const call = (id: string, name: string, input: unknown, rest: object = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
  ...rest,
})
const result = (tool_use_id: string, content: unknown, rest: object = {}) => ({
  type: 'tool_result',
  tool_use_id,
  content,
  ...rest,
})
const said = (...content: BlockLike[]): MessageLike => ({ role: 'assistant', content })
const heard = (...content: BlockLike[]): MessageLike => ({ role: 'user', content })
const kept = (data: object) => ({ signature: JSON.stringify({ openai: data }) })

const foreign = [
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'eHh4' },
  { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  { type: 'fallback', from: {}, to: {} },
  { type: 'ai_sdk_part', part: { type: 'custom' } },
]

describe('the request to the Responses API', () => {
  it('contains the messages, the tools and all options', async () => {
    const search = { type: 'web_search' }
    const body = await toResponses(
      {
        tools: [readSchema],
        system: [
          { type: 'text', text: 'Be' },
          { type: 'text', text: 'brief.' },
        ],
      },
      { tools: [search], store: false },
    )
    expect(body).toEqual({
      model: 'm',
      store: false,
      instructions: 'Be\n\nbrief.',
      tools: [
        search,
        {
          type: 'function',
          name: 'Read',
          description: 'Reads a file.',
          parameters: readSchema.input_schema,
          strict: false,
        },
      ],
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }],
      stream: true,
    })
  })

  it('has calls and results paired by call_id, errors marked, and no blocks of other services', async () => {
    const { input } = await toResponses({
      messages: [
        said(
          ...foreign,
          { type: 'text', text: 'Well.' },
          call('a', 'Read', { p: 1 }),
          call('b', 'Read', undefined),
          call('c', 'Read', {}),
        ),
        heard(
          result('a', 'fine'),
          result('b', [{ type: 'text', text: 'gone' }], { is_error: true }),
          result('c', '<tool_use_error>No.</tool_use_error>', { is_error: true }),
          { type: 'text', text: 'Go on.' },
        ),
      ],
    })
    expect(input).toEqual([
      { role: 'assistant', content: 'Well.' },
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{"p":1}' },
      { type: 'function_call', call_id: 'b', name: 'Read', arguments: '{}' },
      { type: 'function_call', call_id: 'c', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'fine' },
      { type: 'function_call_output', call_id: 'b', output: '<tool_use_error>gone</tool_use_error>' },
      { type: 'function_call_output', call_id: 'c', output: '<tool_use_error>No.</tool_use_error>' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ])
  })

  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
  const reply = said(
    { type: 'thinking', thinking: '', ...kept({ id: 'rs_1', summary: [], encrypted_content: 'gAAA' }) },
    { type: 'text', text: 'One', ...kept({ id: 'msg_1', phase: 'commentary' }) },
    { type: 'text', text: 'Two', ...kept({ id: 'msg_1', phase: 'commentary' }) },
    { type: 'openai_item', item: search },
    call('a', 'Read', {}, kept({ id: 'fc_1' })),
  )

  it('returns reasoning unchanged, before the item that it led to', async () => {
    const { input } = await toResponses({ messages: [reply, heard(result('a', 'ok'))] })
    const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
    expect(input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      {
        type: 'message',
        id: 'msg_1',
        phase: 'commentary',
        role: 'assistant',
        status: 'completed',
        content: [part('One'), part('Two')],
      },
      search,
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
    ])
  })

  it('has no ids for a stateless service, but encrypted reasoning and the service’s own items', async () => {
    const { input } = await toResponses({ messages: [reply, heard(result('a', 'ok'))] }, { store: false })
    expect(input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { role: 'assistant', phase: 'commentary', content: 'OneTwo' },
      search,
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
    ])
  })

  it('leaves out reasoning that would be rejected: not encrypted, or with nothing after it', async () => {
    const thinking = (data: object) => ({ type: 'thinking', thinking: '', ...kept(data) })
    const open = thinking({ id: 'rs_1', encrypted_content: null })
    const sealed = thinking({ id: 'rs_2', encrypted_content: 'gBBB' })
    const ok = heard(result('a', 'ok'))
    const output = { type: 'function_call_output', call_id: 'a', output: 'ok' }
    const plain = { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}' }
    const stateless = await toResponses({ messages: [said(open, call('a', 'Read', {})), ok] }, { store: false })
    expect(stateless.input).toEqual([plain, output])
    const last = await toResponses({ messages: [said(call('a', 'Read', {}, kept({ id: 'fc_1' })), sealed), ok] })
    expect(last.input).toEqual([plain, output])
    const stored = await toResponses({ messages: [said(open, call('a', 'Read', {}, kept({ id: 'fc_1' }))), ok] })
    expect(stored.input).toEqual([
      { type: 'reasoning', id: 'rs_1', encrypted_content: null, summary: [] },
      { ...plain, id: 'fc_1' },
      output,
    ])
  })

  it('sends text to custom tools', async () => {
    const sql = { type: 'custom', name: 'sql' }
    const { input, tools } = await toResponses(
      {
        tools: [{ name: 'sql', input_schema: { type: 'object' } }],
        messages: [said(call('a', 'sql', { input: 'SELECT 1' })), heard(result('a', '1'))],
      },
      { tools: [sql] },
    )
    expect(tools).toEqual([sql])
    expect(input).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: 'SELECT 1' },
      { type: 'custom_tool_call_output', call_id: 'a', output: '1' },
    ])
  })

  it.each([
    true,
    false,
  ])('returns the program that made a call, and names it in the output: store %s', async (store) => {
    const program = { type: 'program', id: 'prog_1', call_id: 'call_p', code: 'await Read({})', fingerprint: 'f' }
    const caller = { type: 'program', caller_id: 'call_p' }
    const { input } = await toResponses(
      {
        messages: [
          said({ type: 'openai_item', item: program }, call('a', 'Read', {}, kept({ id: 'fc_1', caller }))),
          heard(result('a', 'ok')),
        ],
      },
      { store },
    )
    expect(input).toEqual([
      program,
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}', caller },
      { type: 'function_call_output', call_id: 'a', output: 'ok', caller },
    ])
  })

  it('contains an approval request and its answer only together', async () => {
    const asked = (id: string) => ({
      type: 'openai_item' as const,
      item: { type: 'mcp_approval_request', id, name: 'delete', server_label: 'db', arguments: '{}' },
    })
    const answer = approvalAnswer(asked('mcpr_1'), { approve: false, reason: 'Not now' })
    const stray = approvalAnswer(asked('mcpr_9'), { approve: true })
    const { input } = await toResponses({
      messages: [said(asked('mcpr_1'), asked('mcpr_2')), heard(answer, stray, { type: 'text', text: 'Go on.' })],
    })
    expect(input).toEqual([
      asked('mcpr_1').item,
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: false, reason: 'Not now' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ])
  })

  it('leaves out calls that the service ran as a custom tool, because it would expect an output', async () => {
    const item = { type: 'custom_tool_call', id: 'x', call_id: 'x', name: 'x_keyword_search', input: '{}' }
    const { input } = await toResponses({
      messages: [said({ type: 'openai_item', item }, { type: 'text', text: 'Found.' })],
    })
    expect(input).toEqual([{ role: 'assistant', content: 'Found.' }])
  })

  it('contains images and documents, in results too', async () => {
    const { input } = await toResponses({
      messages: [
        said(call('a', 'Read', {})),
        heard(result('a', [{ type: 'text', text: 'See' }, png], { is_error: true }), link, pdf, note),
      ],
    })
    const image = (image_url: string) => ({ type: 'input_image', image_url, detail: 'auto' })
    expect((input as object[]).slice(1)).toEqual([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'This is an error.' },
          { type: 'input_text', text: 'See' },
          image('data:image/png;base64,AAAA'),
        ],
      },
      {
        role: 'user',
        content: [
          image('https://example.com/a.png'),
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          { type: 'input_text', text: 'Plain.' },
        ],
      },
    ])
  })
})

describe('the request to Chat Completions', () => {
  it('contains the messages, the tools and all options', async () => {
    expect(await toChat({ tools: [readSchema], system: 'Be brief.' }, { temperature: 0 })).toEqual({
      model: 'm',
      temperature: 0,
      stream_options: { include_usage: true },
      tools: [
        {
          type: 'function',
          function: { name: 'Read', description: 'Reads a file.', parameters: readSchema.input_schema },
        },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Go.' },
      ],
      stream: true,
    })
  })

  it('has calls and results paired by tool_call_id, errors marked, and no blocks of other services', async () => {
    const { messages } = await toChat({
      messages: [
        said(...foreign, { type: 'text', text: 'Well.' }, call('a', 'Read', { p: 1 })),
        heard(result('a', 'gone', { is_error: true }), { type: 'text', text: 'Go on.' }),
        said(...foreign),
      ],
    })
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'Well.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'Read', arguments: '{"p":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '<tool_use_error>gone</tool_use_error>' },
      { role: 'user', content: 'Go on.' },
    ])
  })

  const thought = (thinking: string, kept: object) => ({
    type: 'thinking',
    thinking,
    signature: JSON.stringify({ openai_chat: kept }),
  })
  const text = (words: string) => ({ type: 'text', text: words })

  it('returns reasoning in its original field if calls were made since the last user message', async () => {
    const thinking = thought('Hm.', { field: 'reasoning_content' })
    const { messages } = await toChat({
      messages: [
        heard(text('Hi.')),
        said(thinking, text('Hello.')),
        heard(text('Go.')),
        said(thinking, call('a', 'Read', {})),
        heard(result('a', 'ok'), text('<note>')),
        said(thinking, text('So.')),
        heard(text('Thanks.')),
        said(thinking, text('Bye.')),
      ],
    })
    const spoken = (messages as Sent[]).filter(({ role }) => role === 'assistant')
    expect(spoken.map(({ reasoning_content }) => reasoning_content)).toEqual([undefined, 'Hm.', 'Hm.', undefined])
  })

  it('returns signed data: reasoning details of OpenRouter, signatures of Gemini', async () => {
    const details = [{ type: 'reasoning.encrypted', data: 'gAAA', index: 0 }]
    const extra_content = { google: { thought_signature: 'c2ln' } }
    const { messages } = await toChat({
      messages: [
        said(
          thought('Hm.', { field: 'reasoning', reasoning_details: details }),
          thought('', { reasoning_details: [{ type: 'reasoning.summary', summary: 'More.' }] }),
          call('a', 'Read', {}, { signature: JSON.stringify({ openai_chat: { extra_content } }) }),
        ),
        heard(result('a', 'ok')),
        said({ ...text('Yes.'), signature: JSON.stringify({ openai_chat: { extra_content } }) }),
      ],
    })
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning: 'Hm.',
        reasoning_details: [...details, { type: 'reasoning.summary', summary: 'More.' }],
        tool_calls: [{ extra_content, id: 'a', type: 'function', function: { name: 'Read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
      { role: 'assistant', content: 'Yes.', extra_content },
    ])
  })

  it('returns thinking among the parts of the content if it came there, as for Mistral', async () => {
    const { messages } = await toChat({ messages: [said(thought('Hm.', { field: 'content' }), text('Yes.'))] })
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'Yes.' },
        ],
      },
    ])
  })

  it('sends text to custom tools', async () => {
    const sql = { type: 'custom', custom: { name: 'sql' } }
    const { messages, tools } = await toChat(
      {
        tools: [{ name: 'sql', input_schema: { type: 'object' } }],
        messages: [said(call('a', 'sql', { input: 'SELECT 1' })), heard(result('a', '1'))],
      },
      { tools: [sql] },
    )
    expect(tools).toEqual([sql])
    expect(messages).toMatchObject([
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
    ])
  })

  it('has the files of results after them, because results are text', async () => {
    const { messages } = await toChat({
      messages: [
        said(call('a', 'Read', {}), call('b', 'Read', {})),
        heard(result('a', [png]), result('b', 'ok'), pdf, note),
      ],
    })
    expect((messages as object[]).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '(The files of this result follow.)' },
      { role: 'tool', tool_call_id: 'b', content: 'ok' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          { type: 'text', text: 'Plain.' },
        ],
      },
    ])
  })
})

describe.each([
  ['the Responses API', toResponses, 'input'],
  ['Chat Completions', toChat, 'messages'],
] as const)('invented names in requests to %s', (_, send, field) => {
  it.each([
    'functions.Read',
    'multi_tool_use.parallel',
    'søk efter filer',
    'x'.repeat(200),
    '',
  ])('are valid: %s', async (name) => {
    const body = await send({
      tools: [readSchema],
      messages: [
        said(call('a', name, {}), call('b', 'Read', {})),
        heard(result('a', 'No such tool'), result('b', 'ok')),
      ],
    })
    const names = JSON.stringify(body[field]).match(/"name":"[^"]*"/g)
    expect(names).toHaveLength(2)
    expect(names?.[1]).toBe('"name":"Read"')
  })
})
