import { createAnthropic } from '@ai-sdk/anthropic'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createXai } from '@ai-sdk/xai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { query } from '../../src/index.ts'
import { aiSdkModel, approvalAnswer, approvalRequest } from '../../src/models/ai-sdk/index.ts'
import { checked } from '../support/services/checked.ts'
import { byQuery, byStreamText, type Story } from './support/like-stream-text.ts'
import { refuses, sends, sseServer } from './support/sse-server.ts'
import {
  chat,
  chatCall,
  functionCall,
  lastAtMistral,
  lastChat,
  lastMessage,
  lastResponse,
  message,
  outputText,
  response,
  webSearch,
} from './support/wires.ts'

const apiKey = 'none'
const responses = (baseURL: string) => createOpenAI({ baseURL, apiKey }).responses('gpt-5.5')
const openaiChat = (baseURL: string) => createOpenAI({ baseURL, apiKey }).chat('gpt-5.5')
const compatible = (baseURL: string) => createOpenAICompatible({ name: 'deepseek', baseURL, apiKey }).chatModel('m')
const anthropic = (baseURL: string) => createAnthropic({ baseURL, apiKey })('claude-opus-5-5')
const xai = (baseURL: string) => createXai({ baseURL, apiKey }).responses('grok-4.5')
const mistral = (baseURL: string) => createMistral({ baseURL: `${baseURL}/mistral`, apiKey })('mistral-large-latest')
const openrouter = (baseURL: string) => createOpenRouter({ baseURL: `${baseURL}/openrouter`, apiKey })('m')

const openaiTools = createOpenAI({ apiKey }).tools
const stateless = { openai: { store: false } }
const sealed = (id: string, summary: string) => ({
  type: 'reasoning',
  id,
  summary: [{ type: 'summary_text', text: summary }],
  encrypted_content: 'gAAA',
})
const wrapper = (...names: string[]) => ({
  tool_uses: names.map((name) => ({ recipient_name: `functions.${name}`, parameters: { of: name } })),
})
const sql = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'call_1',
  name: 'sql',
  input: 'SELECT "a"\n',
  status: 'completed',
}
const customTool = {
  sql: openaiTools.customTool({ description: 'Runs SQL.', execute: async () => 'sql ran' } as never),
}
const program = { type: 'program', id: 'prog_1', call_id: 'call_p', code: 'await Read({})', fingerprint: 'f1' }
const programOutput = {
  type: 'program_output',
  id: 'po_1',
  call_id: 'call_p',
  result: '"ok"',
  status: 'completed',
}
const caller = { type: 'program', caller_id: 'call_p' }
const thinking = [
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'Hm.' },
  { type: 'signature_delta', signature: 'c2ln' },
] as const
const use = (id: string, name: string, json: string) =>
  [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: json },
  ] as const

const stories: Record<string, Story> = {
  'Responses: text, a search of the service, two calls': {
    provider: responses,
    system: 'Be brief.',
    tools: ['Read', 'List'],
    providerTools: { web_search: openaiTools.webSearch({}) as never },
    replies: [
      response('resp_1', [
        sealed('rs_1', 'Look.'),
        outputText('msg_1', 'Let me see.'),
        webSearch('ws_1'),
        functionCall('call_1', 'Read', { path: 'ä' }),
        functionCall('call_2', 'List', {}),
      ]),
      lastResponse,
    ],
  },
  'Responses: the same, where the service keeps nothing': {
    provider: responses,
    tools: ['Read'],
    providerTools: { web_search: openaiTools.webSearch({}) as never },
    providerOptions: stateless,
    replies: [
      response('resp_1', [
        sealed('rs_1', 'Look.'),
        webSearch('ws_1'),
        outputText('msg_1', 'Let me see.'),
        functionCall('call_1', 'Read', { path: 'ä' }),
      ]),
      lastResponse,
    ],
  },
  'Responses: a custom tool': {
    provider: responses,
    providerTools: customTool,
    replies: [response('resp_1', [sql]), lastResponse],
  },
  'Responses: a custom tool, where the service keeps nothing': {
    provider: responses,
    providerTools: customTool,
    providerOptions: stateless,
    replies: [response('resp_1', [sql]), lastResponse],
  },
  'Responses: a wrapper of calls': {
    provider: responses,
    tools: ['Read', 'List'],
    replies: [response('resp_1', [functionCall('call_1', 'parallel', wrapper('Read', 'List'))]), lastResponse],
  },
  'Responses: a program that makes a call': {
    provider: responses,
    tools: ['Read'],
    providerTools: { programmatic: openaiTools.programmaticToolCalling() as never },
    replies: [
      response('resp_1', [program, functionCall('call_1', 'Read', {}, { caller })]),
      response('resp_2', [programOutput, outputText('msg_1', 'Done.')]),
    ],
  },
  'Responses: a program, where the service keeps nothing': {
    provider: responses,
    tools: ['Read'],
    providerTools: { programmatic: openaiTools.programmaticToolCalling() as never },
    providerOptions: stateless,
    replies: [
      response('resp_1', [program, functionCall('call_1', 'Read', {}, { caller })]),
      response('resp_2', [programOutput, functionCall('call_2', 'Read', {})]),
      lastResponse,
    ],
  },
  'Chat: text and a call': {
    provider: openaiChat,
    system: 'Be brief.',
    tools: ['Read'],
    replies: [
      chat(
        'chat_1',
        [{ role: 'assistant', content: 'Let me see.' }, chatCall('call_1', 'Read', '{"p":1}')],
        'tool_calls',
      ),
      lastChat,
    ],
  },
  'Chat, as at DeepSeek, Kimi and GLM: reasoning in a field, two rounds of calls': {
    provider: compatible,
    tools: ['Read'],
    replies: [
      chat(
        'chat_1',
        [{ reasoning_content: 'Hm' }, { reasoning_content: '.' }, chatCall('call_1', 'Read', '{}')],
        'tool_calls',
      ),
      chat(
        'chat_2',
        [{ reasoning_content: 'More.' }, { content: 'So:' }, chatCall('call_2', 'Read', '{}')],
        'tool_calls',
      ),
      lastChat,
    ],
  },
  'Chat, as at Gemini: a signature on the call': {
    provider: compatible,
    tools: ['Read'],
    replies: [
      chat(
        'chat_1',
        [chatCall('call_1', 'Read', '{}', { extra_content: { google: { thought_signature: 'c2ln' } } })],
        'tool_calls',
      ),
      lastChat,
    ],
  },
  'Mistral: thinking among the parts of the content, two rounds of calls': {
    provider: mistral,
    system: 'Be brief.',
    tools: ['Read'],
    replies: [
      chat(
        'chat_1',
        [
          { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] },
          { content: [{ type: 'thinking', thinking: [{ type: 'text', text: '.' }] }] },
          { content: 'Let me see.' },
          chatCall('D681PevKs', 'Read', '{"p":1}'),
        ],
        'tool_calls',
        false,
      ),
      chat('chat_2', [chatCall('a1B2c3D4e', 'Read', '{}')], 'tool_calls', false),
      lastAtMistral,
    ],
  },
  'OpenRouter: reasoning with details, signed and encrypted, and a call': {
    provider: openrouter,
    tools: ['Read'],
    replies: [
      chat(
        'chat_1',
        [
          {
            role: 'assistant',
            content: '',
            reasoning: 'Hm',
            reasoning_details: [{ type: 'reasoning.text', text: 'Hm', format: 'anthropic-claude-v1', index: 0 }],
          },
          {
            reasoning: '.',
            reasoning_details: [{ type: 'reasoning.text', text: '.', format: 'anthropic-claude-v1', index: 0 }],
          },
          {
            reasoning_details: [{ type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 }],
          },
          chatCall('call_1', 'Read', '{"p":1}'),
        ],
        'tool_calls',
      ),
      lastChat,
    ],
  },
  'Messages: a service that is overloaded, and then is not': {
    provider: anthropic,
    tools: ['Read'],
    replies: [
      refuses(529, { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }, { 'retry-after-ms': '1' }),
      message('msg_1', [use('toolu_1', 'Read', '{"p":1}')], 'tool_use'),
      refuses(500, { type: 'error', error: { type: 'api_error', message: 'Oh' } }, { 'retry-after-ms': '1' }),
      lastMessage,
    ],
  },
  'Responses: a limit on requests, twice': {
    provider: responses,
    tools: ['Read'],
    replies: [
      refuses(429, { error: { message: 'Slow', code: 'rate_limit_exceeded' } }, { 'retry-after-ms': '1' }),
      refuses(429, { error: { message: 'Slow', code: 'rate_limit_exceeded' } }, { 'retry-after-ms': '1' }),
      response('resp_1', [functionCall('call_1', 'Read', {})]),
      lastResponse,
    ],
  },
  'Messages: thinking, and a call without arguments': {
    provider: anthropic,
    tools: ['Read', 'List'],
    replies: [
      message(
        'msg_1',
        [
          thinking,
          [{ type: 'redacted_thinking', data: 'eHh4' }],
          use('toolu_1', 'List', ''),
          use('toolu_2', 'Read', '{"p":1}'),
        ],
        'tool_use',
      ),
      lastMessage,
    ],
  },
  'Messages: a search of the service, then a call': {
    provider: anthropic,
    tools: ['Read'],
    providerTools: { web_search: createAnthropic({ apiKey }).tools.webSearch_20250305({}) as never },
    replies: [
      message(
        'msg_1',
        [
          [
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
            { type: 'input_json_delta', partial_json: '{"query":"x"}' },
          ],
          [
            {
              type: 'web_search_tool_result',
              tool_use_id: 'srvtoolu_1',
              content: [
                {
                  type: 'web_search_result',
                  url: 'https://example.com',
                  title: 'E',
                  encrypted_content: 'eA',
                  page_age: null,
                },
              ],
            },
          ],
          use('toolu_1', 'Read', '{}'),
        ],
        'tool_use',
      ),
      lastMessage,
    ],
  },
  'xAI: a search of the service under the name of a custom tool, then a call': {
    provider: xai,
    tools: ['Read'],
    providerTools: { x_search: createXai({ apiKey }).tools.xSearch({}) as never },
    replies: [
      response('resp_1', [
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          call_id: 'xs_1',
          name: 'x_keyword_search',
          input: '{"query":"x"}',
          status: 'completed',
        },
        functionCall('call_1', 'Read', {}),
      ]),
      lastResponse,
    ],
  },
}

describe('every request of query() is the one that streamText() makes, with the same provider and the same replies', () => {
  it.each(Object.entries(stories))('%s', async (_, story) => {
    const expected = await byStreamText(story)
    const { requests, usage, result } = await byQuery(story)
    expect(result).toMatchObject({ reason: 'completed' })
    expect(expected.requests).toHaveLength(story.replies.length)
    expect({ requests, usage }).toEqual(expected)
  })
})

/** The two say that there is no such tool in other words, and `streamText()` sends a made-up name back as it came. */
const alike = (requests: readonly object[]): unknown =>
  JSON.parse(
    JSON.stringify(requests)
      .replaceAll('functions.Read', 'functions_Read')
      .replaceAll('multi_tool_use.parallel', 'multi_tool_use_parallel')
      .replace(/"(?:[^"\\]|\\.)*(?:No such tool available|unavailable tool)(?:[^"\\]|\\.)*"/g, '"no such tool"'),
  )

const madeUp: Record<string, Story> = {
  'Responses, a name that the service takes': {
    provider: responses,
    tools: ['Read'],
    replies: [
      response('resp_1', [functionCall('call_1', 'Nothing', { p: 1 }), functionCall('call_2', 'Read', {})]),
      lastResponse,
    ],
  },
  'Chat, a name that the service takes': {
    provider: openaiChat,
    tools: ['Read'],
    replies: [chat('chat_1', [chatCall('call_1', 'Nothing', '{"p":1}')], 'tool_calls'), lastChat],
  },
  'Messages, a name that the service takes': {
    provider: anthropic,
    tools: ['Read'],
    replies: [message('msg_1', [use('toolu_1', 'Nothing', '{"p":1}')], 'tool_use'), lastMessage],
  },
  'Responses, a name that the service refuses': {
    provider: responses,
    tools: ['Read'],
    isRefused: true,
    replies: [response('resp_1', [functionCall('call_1', 'functions.Read', { p: 1 })]), lastResponse],
  },
  'Chat, a name that the service refuses': {
    provider: openaiChat,
    tools: ['Read'],
    isRefused: true,
    replies: [chat('chat_1', [chatCall('call_1', 'functions.Read', '{"p":1}')], 'tool_calls'), lastChat],
  },
  'Messages, a name that the service refuses': {
    provider: anthropic,
    tools: ['Read'],
    isRefused: true,
    replies: [message('msg_1', [use('toolu_1', 'functions.Read', '{"p":1}')], 'tool_use'), lastMessage],
  },
  'Chat, a wrapper of which only a part is known': {
    provider: openaiChat,
    tools: ['Read'],
    isRefused: true,
    replies: [
      chat(
        'chat_1',
        [chatCall('call_1', 'multi_tool_use.parallel', JSON.stringify(wrapper('Read', 'Nothing')))],
        'tool_calls',
      ),
      lastChat,
    ],
  },
}

describe('made-up tools: the requests differ only in the words for an unknown tool, and in a name that would be refused', () => {
  it.each(Object.entries(madeUp))('%s', async (_, story) => {
    const expected = await byStreamText(story)
    const { requests, result, ran } = await byQuery(story)
    expect(result).toMatchObject({ reason: 'completed' })
    expect(ran).toEqual(ran.filter((call) => call === 'Read {}'))
    expect(requests).toHaveLength(2)
    expect(alike(requests)).toEqual(alike(expected.requests.slice(0, 2)))
  })
})

describe('an answer to a request for approval is the one that streamText() sends', () => {
  const asked = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'drop', server_label: 'db', arguments: '{"t":1}' }
  const answers = [sends(response('resp_1', [asked])), sends(lastResponse)]
  const mcp = { serverLabel: 'db', serverUrl: 'https://example.com', requireApproval: 'always' as const }

  it.each([true, false])('approved: %s', async (approved) => {
    const first = await sseServer(...answers)
    const tools = { mcp: openaiTools.mcp(mcp) as never }
    const model = responses(first.url)
    const told = streamText({ model, prompt: 'Go.', tools })
    const messages = (await told.response).messages
    const part = messages.flatMap(({ content }) => content as { type: string; approvalId?: string }[])
    const approvalId = part.find(({ type }) => type === 'tool-approval-request')?.approvalId as string
    await streamText({
      model,
      tools,
      messages: [
        { role: 'user', content: 'Go.' },
        ...messages,
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved, providerExecuted: true }] },
      ],
    }).consumeStream()
    const expected = first.requests.map(({ body }) => body)
    await first.close()

    const second = await sseServer(...answers)
    const own = aiSdkModel(checked(responses(second.url)), {
      tools: [{ type: 'provider', id: 'openai.mcp', name: 'mcp', args: mcp }],
      toolChoice: { type: 'auto' },
    })
    const run = query({ messages: 'Go.', tools: [], model: own })
    for await (const _ of run);
    const blocks = run.transcript.flatMap((each) => (each.type === 'assistant' ? each.message.content : []))
    const content = blocks
      .filter((block) => approvalRequest(block) !== undefined)
      .map((block) => approvalAnswer(block, { approve: approved }))
    const next = query({ messages: [...run.transcript, { role: 'user', content }], tools: [], model: own })
    for await (const _ of next);
    expect(next.result).toMatchObject({ reason: 'completed' })
    expect(second.requests.map(({ body }) => body)).toEqual(expected)
    await second.close()
  })
})
