import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allowAllTools, defineTool, type Model, type Query, query } from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checked } from '../support/services/checked.ts'
import { breaksAfter, frames, type SseServer, sends, sseServer, stallsAfter } from './support/sse-server.ts'
import { functionCall, lastMessage, lastResponse, outputText, response } from './support/wires.ts'

let server: SseServer
afterEach(() => server.close())

const key = { apiKey: 'none' }
const stored = () => openaiResponsesModel(new OpenAI({ ...key, baseURL: server.url, maxRetries: 0 }), { model: 'm' })
const stateless = () =>
  openaiResponsesModel(new OpenAI({ ...key, baseURL: server.url, maxRetries: 0 }), {
    model: 'm',
    store: false,
    include: ['reasoning.encrypted_content'],
  })
const sdkStored = () => aiSdkModel(checked(createOpenAI({ ...key, baseURL: server.url }).responses('gpt-5.5')))
const sdkStateless = () =>
  aiSdkModel(checked(createOpenAI({ ...key, baseURL: server.url }).responses('gpt-5.5')), {
    providerOptions: { openai: { store: false } },
  })

const write = defineTool({
  name: 'Write',
  inputSchema: z.looseObject({}),
  call: async () => ({ data: 'written' }),
})
const ask = (model: Model, messages: Parameters<typeof query>[0]['messages'] = 'Go.') =>
  query({ messages, tools: [write], model, canUseTool: allowAllTools, retry: { backoffMs: 0 } })
const readAll = async (run: Query): Promise<void> => {
  for await (const _ of run);
}
const goOn = async (model: Model, run: Query): Promise<void> => {
  const next = ask(model, [...run.transcript, { role: 'user', content: 'Go on.' }])
  await readAll(next)
  expect(next.result).toMatchObject({ reason: 'completed' })
}

/** A reply without its end. */
const cut = (wire: string): string => wire.slice(0, wire.indexOf('event: response.completed'))
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
const begun = cut(
  response('resp_1', [
    thought,
    outputText('msg_1', 'Well.'),
    functionCall('call_1', 'Write', {}),
    outputText('msg_2', 'So.'),
  ]),
)
const models: [string, () => Model][] = [
  ['openaiResponsesModel', stored],
  ['openaiResponsesModel, where the service keeps nothing', stateless],
  ['aiSdkModel', sdkStored],
  ['aiSdkModel, where the service keeps nothing', sdkStateless],
]

describe('the Responses API keeps nothing of a reply that did not end', () => {
  it.each(models)('L6 L8 a conversation goes on after an interrupt: %s', async (_, make) => {
    server = await sseServer(stallsAfter(begun), sends(lastResponse), sends(lastResponse.replaceAll('_last', '_3')))
    const run = ask(make())
    let blocks = 0
    for await (const message of run) {
      if (message.type === 'assistant' && ++blocks === 4) run.interrupt('Wait.')
    }
    expect(run.result).toMatchObject({ reason: 'completed' })
    expect(JSON.stringify(server.requests[1]?.body)).toContain('Well.')
    await goOn(make(), run)
  })

  it.each(models)('L5 L8 and after a connection that broke once something was done: %s', async (_, make) => {
    server = await sseServer(breaksAfter(begun), sends(lastResponse), sends(lastResponse.replaceAll('_last', '_3')))
    const run = ask(make())
    await readAll(run)
    expect(run.result).toMatchObject({ reason: 'completed' })
    expect(JSON.stringify(server.requests[1]?.body)).toContain('written')
    await goOn(make(), run)
  })
})

describe('Anthropic through the AI SDK refuses a call of its own without a result', () => {
  const claude = () => aiSdkModel(checked(createAnthropic({ ...key, baseURL: server.url })('claude-opus-5-5')))
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  }
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
  const text = (index: number, words: string) =>
    block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words })
  const search = (index: number) =>
    block(
      index,
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: '{"query":"x"}' },
    )
  const found = (index: number) =>
    block(index, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] })
  const stop = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const paused = sends(frames([start, ...text(0, 'Let me look.'), ...search(1), ...stop('pause_turn')]))

  it('L6 L8 an interrupt while it runs', async () => {
    server = await sseServer(stallsAfter(frames([start, ...text(0, 'Let me look.'), ...search(1)])), sends(lastMessage))
    const run = ask(claude())
    for await (const message of run) {
      if (message.type === 'assistant' && message.message.content[0]?.type === 'ai_sdk_part') run.interrupt('Wait.')
    }
    expect(run.result).toMatchObject({ reason: 'completed' })
    await goOn(claude(), run)
  })

  it('L4 L8 a paused turn goes on, and what was sent meanwhile waits for it', async () => {
    const next = { ...start, message: { ...start.message, id: 'msg_2' } }
    server = await sseServer(
      paused,
      sends(frames([next, ...found(0), ...text(1, 'Found.'), ...stop('end_turn')])),
      sends(lastMessage),
    )
    const run = ask(claude())
    let isSent = false
    for await (const message of run) {
      if (message.type !== 'assistant' || isSent) continue
      isSent = run.send('And this.')
    }
    expect(run.result).toMatchObject({ reason: 'completed' })
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('And this.')
    expect(JSON.stringify(server.requests[2]?.body)).toContain('And this.')
    expect(JSON.stringify(server.requests[2]?.body)).toContain('web_search_tool_result')
    await goOn(claude(), run)
  })

  it('L7 L8 the last turn, where it is paused', async () => {
    server = await sseServer(paused, sends(lastMessage))
    const run = query({ messages: 'Go.', tools: [write], model: claude(), maxTurns: 1 })
    await readAll(run)
    expect(run.result).toMatchObject({ reason: 'max_turns' })
    await goOn(claude(), run)
  })
})
