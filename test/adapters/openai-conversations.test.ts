import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import type { Message, Model } from '../../src/index.ts'
import { aiSdkModel, approvalAnswer, approvalRequest } from '../../src/models/ai-sdk/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checked } from '../support/services/checked.ts'
import { type Answer, frame, frames, refuses, type SseServer, sends, sseServer } from './support/sse-server.ts'
import { talk } from './support/talk.ts'
import {
  chat,
  chatCall,
  functionCall,
  lastChat,
  lastResponse,
  outputText,
  response,
  webSearch,
} from './support/wires.ts'

let server: SseServer
afterEach(() => server.close())

const serve = async (...answers: (string | Answer)[]): Promise<void> => {
  server = await sseServer(...answers.map((answer) => (typeof answer === 'string' ? sends(answer) : answer)))
}
const client = () => new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0, logLevel: 'off' })
const chatModel = (options: object = {}) => openaiChatModel(client(), { model: 'm', ...options })
const responsesModel = (options: object = {}) => openaiResponsesModel(client(), { model: 'm', ...options })
const compatible = () =>
  aiSdkModel(checked(createOpenAICompatible({ name: 'deepseek', baseURL: server.url, apiKey: 'none' }).chatModel('m')))
const sdkResponses = () =>
  aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).responses('gpt-5.5')))
const sdkChat = () => aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).chat('m')))

const bodies = () => server.requests.map(({ body }) => body)
const text = (body: unknown): string => JSON.stringify(body)
const quick = { retry: { attempts: 1, backoffMs: 0 } }

describe('reasoning that a service needs back', () => {
  const thinks = chat('c1', [{ reasoning_content: 'First.' }, chatCall('call_1', 'Read', '{}')], 'tool_calls')
  const answers = chat('c2', [{ reasoning_content: 'Then.' }, { content: 'So.' }], 'stop')

  /** Like DeepSeek: after calls, it requires its reasoning with every assistant message since. */
  const demanding =
    (wire: string): Answer =>
    (response, request) => {
      const said = (request.body.messages as Record<string, unknown>[]).filter(({ role }) => role === 'assistant')
      const isWhole = said.every(({ reasoning_content }) => typeof reasoning_content === 'string')
      return isWhole
        ? sends(wire)(response, request)
        : refuses(400, { error: { message: 'The reasoning_content must be passed back' } })(response, request)
    }

  it.each([
    ['openaiChatModel', () => chatModel()],
    ['aiSdkModel', () => compatible()],
  ])('is returned through %s, in the next conversation too', async (_, make) => {
    await serve(thinks, demanding(answers), demanding(lastChat))
    const first = await talk(make())
    expect(first.result).toMatchObject({ reason: 'completed' })
    const second = await talk(make(), [...first.transcript, userMessage('Thanks.')])
    expect(second.result).toMatchObject({ reason: 'completed' })
    expect(text(bodies()[2])).toContain('"reasoning_content":"Then."')
  })

  it('is returned to Mistral among the parts of the content', async () => {
    const part = (words: string) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: words }] }] })
    await serve(
      chat('c1', [part('Hm'), part('.'), { content: 'Well.' }, chatCall('a', 'Read', '{}')], 'tool_calls'),
      lastChat,
    )
    expect((await talk(chatModel())).result).toMatchObject({ reason: 'completed' })
    expect((bodies()[1] as { messages: object[] }).messages[1]).toMatchObject({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Well.' },
      ],
    })
  })
})

describe('an invented tool name', () => {
  const wrapper = {
    tool_uses: [
      { recipient_name: 'functions.Read', parameters: {} },
      { recipient_name: 'functions.Nothing', parameters: {} },
    ],
  }
  const names: [string, unknown][] = [
    ['functions.Read', {}],
    ['multi_tool_use.parallel', wrapper],
  ]
  const models: [string, (name: string, input: unknown) => [string, string], () => Model][] = [
    [
      'openaiChatModel',
      (name, input) => [chat('c', [chatCall('call_1', name, JSON.stringify(input))], 'tool_calls'), lastChat],
      () => chatModel(),
    ],
    [
      'openaiResponsesModel',
      (name, input) => [response('r', [functionCall('call_1', name, input)]), lastResponse],
      () => responsesModel(),
    ],
    [
      'aiSdkModel on Chat',
      (name, input) => [chat('c', [chatCall('call_1', name, JSON.stringify(input))], 'tool_calls'), lastChat],
      () => sdkChat(),
    ],
    [
      'aiSdkModel on Responses',
      (name, input) => [response('r', [functionCall('call_1', name, input)]), lastResponse],
      () => sdkResponses(),
    ],
  ]

  it.each(
    names.flatMap(([name, input]) => models.map(([adapter, ...rest]) => [name, adapter, input, ...rest] as const)),
  )('%s is answered, runs nothing, and does not spoil the next request: %s', async (name, _, input, wires, make) => {
    await serve(...wires(name, input))
    const { result, ran } = await talk(make())
    expect(result).toMatchObject({ reason: 'completed' })
    expect(ran).toEqual([])
    expect(bodies()).toHaveLength(2)
    expect(text(bodies()[1])).toContain('No such tool available')
  })
})

describe('calls that a service runs itself', () => {
  it('are not answered, even if they look like calls: a search at xAI', async () => {
    const search = {
      type: 'custom_tool_call',
      id: 'x_1',
      call_id: 'x',
      name: 'x_keyword_search',
      input: '{}',
      status: 'completed',
    }
    await serve(response('r1', [search, outputText('msg_1', 'Found.')]))
    const { result } = await talk(responsesModel({ tools: [{ type: 'x_search' }] }))
    expect(result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    expect(bodies()).toHaveLength(1)
  })

  it('are returned to a stateless service: a search, and a program with its call', async () => {
    const program = { type: 'program', id: 'prog_1', call_id: 'call_p', code: 'await Read({})', fingerprint: 'f1' }
    const caller = { type: 'program', caller_id: 'call_p' }
    await serve(response('r1', [webSearch('ws_1'), program, functionCall('a', 'Read', {}, { caller })]), lastResponse)
    const { result, ran } = await talk(responsesModel({ store: false }))
    expect(result).toMatchObject({ reason: 'completed' })
    expect(ran).toEqual(['Read {}'])
    expect((bodies()[1] as { input: object[] }).input.slice(1)).toEqual([
      webSearch('ws_1'),
      program,
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{}', caller },
      { type: 'function_call_output', call_id: 'a', output: 'Read ran', caller },
    ])
  })

  const asked = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'drop', server_label: 'db', arguments: '{"t":1}' }
  const ranIt = {
    type: 'mcp_call',
    status: 'completed',
    id: 'mcp_1',
    name: 'drop',
    server_label: 'db',
    arguments: '{"t":1}',
    output: 'ok',
    approval_request_id: 'mcpr_1',
  }

  it.each([
    ['openaiResponsesModel', () => responsesModel(), true],
    ['openaiResponsesModel', () => responsesModel({ store: false }), false],
    ['aiSdkModel', () => sdkResponses(), true],
  ])('can be approved or denied: %s', async (_, make, approve) => {
    await serve(response('r1', [asked]), response('r2', [ranIt, outputText('msg_1', 'Dropped.')]), lastResponse)
    const first = await talk(make())
    expect(first.result).toMatchObject({ reason: 'completed', stopReason: 'approval_required' })
    const block = blocksOf(first.transcript).find((each) => approvalRequest(each) !== undefined)
    expect(approvalRequest(block as never)).toMatchObject({ id: 'mcpr_1', arguments: '{"t":1}' })
    const answer = approvalAnswer(block as never, { approve })
    const second = await talk(make(), [...first.transcript, { role: 'user', content: [answer] }])
    expect(second.result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    expect(text(bodies()[1])).toContain(`"approval_request_id":"mcpr_1","approve":${approve}`)
    expect((await talk(make(), [...second.transcript, userMessage('Thanks.')])).result).toMatchObject({
      reason: 'completed',
    })
  })

  it('without an answer to their approval do not break the conversation', async () => {
    await serve(response('r1', [asked]), lastResponse)
    const { transcript } = await talk(responsesModel())
    const { result } = await talk(responsesModel(), [...transcript, userMessage('Never mind.')])
    expect(result).toMatchObject({ reason: 'completed' })
  })
})

describe('errors in service-specific formats', () => {
  const half = (error: object) =>
    frames(
      [
        {
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta: { content: 'He' } }],
        },
      ],
      false,
    ) + frame({ id: 'c', ...error }, false)
  const failed = (code: string) =>
    frames([
      { type: 'response.created', response: { id: 'r0', created_at: 1, model: 'm', output: [] } },
      {
        type: 'response.failed',
        sequence_number: 2,
        response: { id: 'r0', error: { code, message: 'No' }, incomplete_details: null },
      },
    ])
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'error' }] }

  it.each([
    ['Chat: code 429', half({ error: { code: 429, message: 'Slow' } }), lastChat, () => chatModel()],
    ['Chat: code 502', half({ error: { code: 502, message: 'Bad' } }), lastChat, () => chatModel()],
    ['Chat: finish reason error', half(finish), lastChat, () => chatModel()],
    ['AI SDK: code 502', half({ error: { code: 502, message: 'Bad' } }), lastChat, () => compatible()],
    ['AI SDK: finish reason error', half(finish), lastChat, () => compatible()],
    ['Responses: server_is_overloaded', failed('server_is_overloaded'), lastResponse, () => responsesModel()],
    ['Responses: slow_down', failed('slow_down'), lastResponse, () => responsesModel()],
    ['AI SDK: server_is_overloaded', failed('server_is_overloaded'), lastResponse, () => sdkResponses()],
  ])('are retried: %s', async (_, broken, whole, make) => {
    await serve(broken, whole)
    const { result, messages } = await talk(make(), 'Go.', quick)
    expect(result).toMatchObject({ reason: 'completed' })
    expect(
      messages.filter(({ type }) => type === 'system').map((each) => (each as { subtype: string }).subtype),
    ).toContain('model_retry')
    expect(bodies()).toHaveLength(2)
  })

  it.each<[string, string, string, (options: object) => Model, string]>([
    ['Chat: code 429', half({ error: { code: 429, message: 'Slow' } }), lastChat, chatModel, 'rate_limited'],
    ['Chat: code 502', half({ error: { code: 502, message: 'Bad' } }), lastChat, chatModel, 'server'],
    ['server_is_overloaded', failed('server_is_overloaded'), lastResponse, responsesModel, 'overloaded'],
    ['slow_down', failed('slow_down'), lastResponse, responsesModel, 'rate_limited'],
  ])('L5 make the query ask the fallback model after the last attempt: %s', async (_, broken, whole, make, errorKind) => {
    await serve(broken, broken, whole)
    const fallbackModel = make({ model: 'second' })
    const { result, messages } = await talk(make({ model: 'first' }), 'Go.', { ...quick, fallbackModel })
    expect(bodies().map(({ model }) => model)).toEqual(['first', 'first', 'second'])
    const retries = messages.filter((each) => each.type === 'system' && each.subtype === 'model_retry')
    expect(retries).toMatchObject([
      { errorKind, isFallback: false },
      { errorKind, isFallback: true },
    ])
    expect(result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
  })

  it.each([
    ['openaiChatModel', () => chatModel()],
    ['aiSdkModel', () => sdkChat()],
  ])('are not retried if the account is out of credit: %s', async (_, make) => {
    const error = { message: 'Pay', type: 'insufficient_quota', code: 'insufficient_quota' }
    await serve(refuses(429, { error }), lastChat)
    expect((await talk(make(), 'Go.', quick)).result).toMatchObject({ reason: 'model_error' })
    expect(bodies()).toHaveLength(1)
  })
})

describe('calls in undocumented formats', () => {
  it('may have their arguments as an object', async () => {
    await serve(chat('c1', [chatCall('call_1', 'Read', { path: 'a' })], 'tool_calls'), lastChat)
    expect((await talk(chatModel())).ran).toEqual(['Read {"path":"a"}'])
  })

  it('may have text input, through aiSdkModel too', async () => {
    const item = {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_1',
      name: 'sql',
      input: 'SELECT 1',
      status: 'completed',
    }
    await serve(response('r1', [item]), lastResponse)
    const model = aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).responses('gpt-5.5')), {
      tools: [{ type: 'provider', id: 'openai.custom', name: 'sql', args: {} }],
    })
    const { ran, result } = await talk(model, 'Go.', { more: ['sql'] })
    expect(result).toMatchObject({ reason: 'completed' })
    expect(ran).toEqual(['sql {"input":"SELECT 1"}'])
    const { tools } = bodies()[0] as { tools: { name: string }[] }
    expect(tools.filter(({ name }) => name === 'sql')).toHaveLength(1)
  })
})

const userMessage = (words: string) => ({ role: 'user' as const, content: words })

const blocksOf = (messages: readonly Message[]) =>
  messages.flatMap((each) => (each.type === 'assistant' ? each.message.content : []))
