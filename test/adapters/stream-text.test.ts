import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createXai } from '@ai-sdk/xai'
import { describe, expect, it } from 'vitest'
import { byQuery, byStreamText, type Story } from './support/like-stream-text.ts'
import {
  chat,
  chatCall,
  functionCall,
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
    const { requests, result } = await byQuery(story)
    expect(result).toMatchObject({ reason: 'completed' })
    expect(expected).toHaveLength(story.replies.length)
    expect(requests).toEqual(expected)
  })
})
