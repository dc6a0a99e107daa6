import { readFileSync } from 'node:fs'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import type { BlockLike, Model } from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { approvalRequest, openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checked } from '../support/services/checked.ts'
import { type Reply, replyOf } from './support/read-reply.ts'
import { type Asked, ask } from './support/requests.ts'
import { type SseServer, sends, sseServer } from './support/sse-server.ts'
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

let server: SseServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const key = { apiKey: 'none', maxRetries: 0 }
const claude = (url: string) => anthropicModel(new Anthropic({ ...key, baseURL: url }), { model: 'm', max_tokens: 9 })
const responses = (url: string) =>
  openaiResponsesModel(new OpenAI({ ...key, baseURL: url }), { model: 'm', store: false, tools: [customSql as never] })
const chats = (url: string) =>
  openaiChatModel(new OpenAI({ ...key, baseURL: url }), { model: 'm', tools: [chatSql as never] })
const sdk = (url: string) =>
  aiSdkModel(checked(createOpenAI({ apiKey: 'none', baseURL: url }).responses('gpt-5.5')), {
    tools: [{ type: 'provider', id: 'openai.custom', name: 'sql', args: {} }],
  })
const sdkClaude = (url: string) =>
  aiSdkModel(checked(createAnthropic({ apiKey: 'none', baseURL: url })('claude-opus-5-5')))

const customSql = { type: 'custom', name: 'sql' }
const chatSql = { type: 'custom', custom: { name: 'sql' } }

/** The reply of the service, and the request that contained that reply. */
async function roundTrip(
  make: (url: string) => Model,
  wire: string,
  last: string,
): Promise<{ reply: Reply; sent: string }> {
  server = await sseServer(sends(wire), sends(last))
  const model = make(server.url)
  const reply = await replyOf(await model(ask()))
  const calls = reply.blocks.filter(({ type }) => type === 'tool_use')
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const next: BlockLike[] = results.length > 0 ? results : [{ type: 'text', text: 'Go on.' }]
  await replyOf(
    await model(
      ask({
        messages: [
          { role: 'user', content: 'Go.' },
          { role: 'assistant', content: reply.blocks },
          { role: 'user', content: next },
        ],
      }),
    ),
  )
  return { reply, sent: JSON.stringify(server.requests[1]?.body) }
}

const text = (words: string) =>
  [
    { type: 'text', text: '' },
    { type: 'text_delta', text: words },
  ] as const
const readCall = [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }] as const
const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
const sqlItem = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'call_1',
  name: 'sql',
  input: 'SELECT 1',
  status: 'completed',
}
const approval = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'drop', server_label: 'db', arguments: '{}' }
const refused = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'refusal', refusal: 'No.', text: 'No.' }],
}
const cache_control = { type: 'ephemeral' }

const goesBack =
  (make: (url: string) => Model, wire: string, last: string, ...expected: string[]): Proof =>
  async () => {
    const { sent } = await roundTrip(make, wire, last)
    for (const each of expected) expect(sent).toContain(each)
  }
const replies =
  (make: (url: string) => Model, wire: string, check: (reply: Reply) => void): Proof =>
  async () => {
    server = await sseServer(sends(wire))
    check(await replyOf(await make(server.url)(ask())))
  }
const asks =
  (make: (url: string) => Model, wire: string, request: Asked, ...expected: string[]): Proof =>
  async () => {
    server = await sseServer(sends(wire))
    await replyOf(await make(server.url)(ask(request)))
    for (const each of expected) expect(JSON.stringify(server.requests[0]?.body)).toContain(each)
  }
const counts = ({ usage }: Reply) => expect(usage).toMatchObject({ output_tokens: 9 })
const countsCache = ({ usage }: Reply) => expect(usage).toMatchObject({ input_tokens: 15, cache_read_input_tokens: 5 })
const refuses = ({ stopReason }: Reply) => expect(stopReason).toBe('refusal')
const asksFirst = ({ blocks, stopReason }: Reply) => {
  expect(stopReason).toBe('approval_required')
  expect(blocks.some((block) => approvalRequest(block) !== undefined)).toBe(true)
}

type Proof = () => Promise<void>
type Cell = readonly [says: string, proof?: Proof]
const none: Cell = ['–']

const cached: Asked = {
  system: [{ type: 'text', text: 'Long.', cache_control }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.', cache_control }] }],
}
const marks = [
  '"text":"Long.","cache_control":{"type":"ephemeral"}',
  '"text":"Go.","cache_control":{"type":"ephemeral"}',
]

const features = ['thinking', 'server tools', 'caching', 'custom tools', 'approvals', 'usage', 'refusals'] as const

/** The table of the page, each cell with its proof. */
const table: Record<string, Record<(typeof features)[number], Cell>> = {
  anthropicModel: {
    thinking: [
      'goes back with its signature',
      goesBack(
        claude,
        message(
          'm1',
          [
            [
              { type: 'thinking', thinking: '', signature: '' },
              { type: 'thinking_delta', thinking: 'Hm.' },
              { type: 'signature_delta', signature: 'c2ln' },
            ],
            readCall,
          ],
          'tool_use',
        ),
        lastMessage,
        '"thinking":"Hm.","signature":"c2ln"',
      ),
    ],
    'server tools': [
      'go back as they came',
      goesBack(
        claude,
        message(
          'm1',
          [
            [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }],
            [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }],
            text('Found.'),
          ],
          'end_turn',
        ),
        lastMessage,
        '"server_tool_use"',
        '"web_search_tool_result"',
      ),
    ],
    caching: ['`cache_control`', asks(claude, lastMessage, cached, ...marks)],
    'custom tools': none,
    approvals: none,
    usage: ['yes', replies(claude, lastMessage, counts)],
    refusals: ['`refusal`', replies(claude, message('m1', [text('I')], 'refusal'), refuses)],
  },
  openaiResponsesModel: {
    thinking: [
      'goes back, encrypted with `store: false`',
      goesBack(
        responses,
        response('r1', [sealed, functionCall('call_1', 'Read', {})]),
        lastResponse,
        '"encrypted_content":"gAAA"',
      ),
    ],
    'server tools': [
      'go back as they came',
      goesBack(
        responses,
        response('r1', [webSearch('ws_1'), outputText('msg_1', 'Found.')]),
        lastResponse,
        '"web_search_call"',
      ),
    ],
    caching: ['automatic', replies(responses, lastResponse, countsCache)],
    'custom tools': [
      'input is `{ input: string }`',
      goesBack(responses, response('r1', [sqlItem]), lastResponse, '"input":"SELECT 1"', '"custom_tool_call_output"'),
    ],
    approvals: ['`approval_required`', replies(responses, response('r1', [approval]), asksFirst)],
    usage: ['yes', replies(responses, lastResponse, counts)],
    refusals: [
      '`refusal`',
      replies(responses, response('r1', [refused]).replaceAll('output_text', 'refusal'), refuses),
    ],
  },
  openaiChatModel: {
    thinking: [
      'goes back under the name it came with',
      goesBack(
        chats,
        chat('c1', [{ reasoning_content: 'Hm.' }, chatCall('call_1', 'Read', '{}')], 'tool_calls'),
        lastChat,
        '"reasoning_content":"Hm."',
      ),
    ],
    'server tools': [
      'ignored',
      replies(
        chats,
        chat('c1', [{ tool_calls: [{ index: 0, id: 's', type: 'web_search' }] }, { content: 'Found.' }], 'stop'),
        ({ blocks }) => expect(blocks).toEqual([{ type: 'text', text: 'Found.' }]),
      ),
    ],
    caching: ['automatic', replies(chats, lastChat, countsCache)],
    'custom tools': [
      'input is `{ input: string }`',
      goesBack(
        chats,
        chat(
          'c1',
          [{ tool_calls: [{ index: 0, id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] }],
          'tool_calls',
        ),
        lastChat,
        '"custom":{"name":"sql","input":"SELECT 1"}',
      ),
    ],
    approvals: none,
    usage: ['yes', replies(chats, lastChat, counts)],
    refusals: ['`refusal`', replies(chats, chat('c1', [{ refusal: 'No.' }], 'stop'), refuses)],
  },
  aiSdkModel: {
    thinking: [
      'goes back with its metadata, if any',
      goesBack(sdk, response('r1', [sealed, functionCall('call_1', 'Read', {})]), lastResponse, '"id":"rs_1"'),
    ],
    'server tools': [
      'go back as they came',
      goesBack(sdk, response('r1', [webSearch('ws_1'), outputText('msg_1', 'Found.')]), lastResponse, '"ws_1"'),
    ],
    caching: ['`cache_control`, at Anthropic', asks(sdkClaude, lastMessage, cached, ...marks)],
    'custom tools': [
      'input is `{ input: string }`',
      replies(sdk, response('r1', [sqlItem]), ({ blocks }) =>
        expect(blocks).toMatchObject([{ name: 'sql', input: { input: 'SELECT 1' } }]),
      ),
    ],
    approvals: ['`approval_required`', replies(sdk, response('r1', [approval]), asksFirst)],
    usage: ['yes', replies(sdk, lastResponse, counts)],
    refusals: ['`refusal`', replies(sdkClaude, message('m1', [text('I')], 'refusal'), refuses)],
  },
}

describe.each(Object.entries(table))('the page is right about %s', (_, cells) => {
  const proven = features.flatMap((feature) => {
    const [says, proof] = cells[feature]
    return proof === undefined ? [] : [[feature, says, proof] as const]
  })
  it.each(proven)('%s: %s', async (_feature, _says, proof) => proof())
})

it('the page has the table, cell by cell', () => {
  const page = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8')
  const rows = Object.entries(table).map(
    ([name, cells]) => `| \`${name}\` | ${features.map((feature) => cells[feature][0]).join(' | ')} |`,
  )
  expect(page).toContain(
    [`| | ${features.join(' | ')} |`, `|---|${features.map(() => '---').join('|')}|`, ...rows].join('\n'),
  )
})
