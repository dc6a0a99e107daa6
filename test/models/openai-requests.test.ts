import { describe, expect, it } from 'vitest'
import type { ApiMessage } from '../../src/messages/to-api-messages.ts'
import type { Model, ModelRequest } from '../../src/model/model.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/openai/index.ts'
import { collect } from './support/read-reply.ts'
import { ask, readSchema } from './support/requests.ts'

type Sent = Record<string, unknown>

const recorder = () => {
  const sent: Sent[] = []
  const create = async (params: Sent) => {
    sent.push(params)
    return []
  }
  return { sent, client: { responses: { create }, chat: { completions: { create } } } }
}

async function askWith(model: Model, sent: Sent[], request: Partial<ModelRequest>): Promise<Sent> {
  await collect(await model(ask(request)))
  return sent[0] as Sent
}
const toResponses = (request: Partial<ModelRequest>, options: object = {}) => {
  const { client, sent } = recorder()
  return askWith(openaiResponsesModel(client, { model: 'm', ...options }), sent, request)
}
const toChat = (request: Partial<ModelRequest>, options: object = {}) => {
  const { client, sent } = recorder()
  return askWith(openaiChatModel(client, { model: 'm', ...options }), sent, request)
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
const result = (tool_use_id: string, content: unknown, rest: object = {}) =>
  ({ type: 'tool_result', tool_use_id, content, ...rest }) as ApiMessage['content'][number] & { type: string }
const said = (...content: { type: string }[]): ApiMessage => ({ role: 'assistant', content })
const heard = (...content: { type: string }[]): ApiMessage => ({ role: 'user', content })
const kept = (data: object) => ({ signature: JSON.stringify({ openai: data }) })

const foreign = [
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'eHh4' },
  { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  { type: 'fallback', from: {}, to: {} },
  { type: 'ai_sdk_part', part: { type: 'custom' } },
]

describe('what goes to the Responses API', () => {
  it('is the request, with everything that the options say', async () => {
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
          { type: 'text', text: 'Well.' } as never,
          call('a', 'Read', { p: 1 }),
          call('b', 'Read', undefined),
        ),
        heard(
          result('a', 'fine'),
          result('b', [{ type: 'text', text: 'gone' }], { is_error: true }),
          result('c', '<tool_use_error>No.</tool_use_error>', { is_error: true }),
          { type: 'text', text: 'Go on.' } as never,
        ),
      ],
    })
    expect(input).toEqual([
      { role: 'assistant', content: 'Well.' },
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{"p":1}' },
      { type: 'function_call', call_id: 'b', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'fine' },
      { type: 'function_call_output', call_id: 'b', output: '<tool_use_error>gone</tool_use_error>' },
      { type: 'function_call_output', call_id: 'c', output: '<tool_use_error>No.</tool_use_error>' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ])
  })

  const reply = said(
    { type: 'thinking', thinking: '', ...kept({ id: 'rs_1', summary: [], encrypted_content: 'gAAA' }) } as never,
    { type: 'text', text: 'One', ...kept({ id: 'msg_1', phase: 'commentary' }) } as never,
    { type: 'text', text: 'Two', ...kept({ id: 'msg_1', phase: 'commentary' }) } as never,
    { type: 'openai_item', item: { type: 'web_search_call', id: 'ws_1' } } as never,
    call('a', 'Read', {}, kept({ id: 'fc_1' })),
  )

  it('brings reasoning back before what it led to, as it came', async () => {
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
      { type: 'web_search_call', id: 'ws_1' },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
    ])
  })

  it('has no ids to look up where the service keeps nothing, but the encrypted reasoning', async () => {
    const { input } = await toResponses({ messages: [reply, heard(result('a', 'ok'))] }, { store: false })
    expect(input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { role: 'assistant', phase: 'commentary', content: 'OneTwo' },
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
    ])
  })

  it('leaves out reasoning that would be refused: not encrypted, or with nothing behind it', async () => {
    const thinking = (data: object) => ({ type: 'thinking', thinking: '', ...kept(data) })
    const open = thinking({ id: 'rs_1', encrypted_content: null })
    const sealed = thinking({ id: 'rs_2', encrypted_content: 'gBBB' })
    const stateless = await toResponses({ messages: [said(open, call('a', 'Read', {}))] }, { store: false })
    expect(stateless.input).toEqual([{ type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}' }])
    const last = await toResponses({ messages: [said(call('a', 'Read', {}, kept({ id: 'fc_1' })), sealed)] })
    expect(last.input).toEqual([{ type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}' }])
    const stored = await toResponses({ messages: [said(open, call('a', 'Read', {}, kept({ id: 'fc_1' })))] })
    expect(stored.input).toEqual([
      { type: 'reasoning', id: 'rs_1', encrypted_content: null, summary: [] },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'Read', arguments: '{}' },
    ])
  })

  it('speaks to custom tools in text', async () => {
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

  it('carries pictures and documents, in results too', async () => {
    const { input } = await toResponses({
      messages: [heard(result('a', [{ type: 'text', text: 'See' }, png], { is_error: true }), link, pdf, note)],
    })
    const image = (image_url: string) => ({ type: 'input_image', image_url, detail: 'auto' })
    expect(input).toEqual([
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

describe('what goes to Chat Completions', () => {
  it('is the request, with everything that the options say', async () => {
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
        said(...foreign, { type: 'text', text: 'Well.' } as never, call('a', 'Read', { p: 1 })),
        heard(result('a', 'gone', { is_error: true }), { type: 'text', text: 'Go on.' } as never),
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

  it('brings reasoning back where it came from, within a round of calls only', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: '{"openai_chat":{"field":"reasoning_content"}}' }
    const { messages } = await toChat({
      messages: [said(thinking, call('a', 'Read', {})), said(thinking, { type: 'text', text: 'So.' } as never)],
    })
    expect(messages).toMatchObject([{ reasoning_content: 'Hm.', content: null }, { content: 'So.' }])
    expect((messages as object[])[1]).not.toHaveProperty('reasoning_content')
  })

  it('speaks to custom tools in text', async () => {
    const sql = { type: 'custom', custom: { name: 'sql' } }
    const { messages, tools } = await toChat(
      {
        tools: [{ name: 'sql', input_schema: { type: 'object' } }],
        messages: [said(call('a', 'sql', { input: 'SELECT 1' }))],
      },
      { tools: [sql] },
    )
    expect(tools).toEqual([sql])
    expect(messages).toMatchObject([
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] },
    ])
  })

  it('has the files of results after them, since results are text', async () => {
    const { messages } = await toChat({ messages: [heard(result('a', [png]), result('b', 'ok'), pdf, note)] })
    expect(messages).toEqual([
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
