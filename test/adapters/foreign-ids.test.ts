import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  createAssistantMessage,
  createUserMessage,
  defineTool,
  type Message,
  type Model,
  query,
  toApiMessages,
} from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { checkTranscript, repairTranscript } from '../../src/transcripts/index.ts'
import { checked } from '../support/services/checked.ts'
import { asChatChunks, asMessagesEvents, asResponsesEvents, lastWord } from './support/one-reply.ts'
import { frame, frames, type SseServer, sends, sseServer } from './support/sse-server.ts'
import { lastAtMistral } from './support/wires.ts'

let server: SseServer
afterEach(() => server.close())

const tools = ['Read', 'List'].map((name) =>
  defineTool({ name, inputSchema: z.looseObject({}), call: async () => ({ data: `${name} ran` }) }),
)

const go = async (model: Model, messages: string | readonly Message[]): Promise<readonly Message[]> => {
  const run = query({ messages, tools, model, canUseTool: allowAllTools })
  for await (const _ of run);
  expect(run.result).toMatchObject({ reason: 'completed' })
  return run.transcript
}

/** The reply of a service, with its own ids. */
const withIds = <Events>(events: Events, ids: readonly [string, string]): Events =>
  JSON.parse(
    JSON.stringify(events)
      .replaceAll('"call_1"', JSON.stringify(ids[0]))
      .replaceAll('"call_2"', JSON.stringify(ids[1])),
  )

const chatWire = (chunks: readonly object[]) => frames(chunks, false) + frame('[DONE]')
const openai = () => new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })

const services: [string, (ids: readonly [string, string]) => [string, string], () => Model][] = [
  [
    'Chat Completions',
    (ids) => [chatWire(withIds(asChatChunks, ids)), chatWire(lastWord.chat)],
    () => openaiChatModel(openai(), { model: 'm' }),
  ],
  [
    'the Responses API',
    (ids) => [frames(withIds(asResponsesEvents, ids)), frames(lastWord.responses)],
    () => openaiResponsesModel(openai(), { model: 'm' }),
  ],
  [
    'the AI SDK',
    (ids) => [chatWire(withIds(asChatChunks, ids)), chatWire(lastWord.chat)],
    () => aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).chat('m'))),
  ],
]

const foreign: [string, string][] = [
  ['functions.Read:0', 'functions.List:1'],
  ['call_a|fc_1', 'call_a fc_1'],
  ['1.5', 'œuvre/2'],
]

describe.each(services)('calls with ids that the Messages API rejects, from %s', (_, answers, model) => {
  it.each(foreign)('W1 L8 %s and %s are kept, and cleaned where needed', async (...ids) => {
    server = await sseServer(...answers(ids).map((text) => sends(text)), sends(frames(lastWord.messages)))
    const transcript = await go(model(), 'go')
    expect(checkTranscript(transcript)).toEqual({ ok: true })
    expect(repairTranscript(transcript).changes).toEqual([])
    // the service gets its own ids back
    for (const id of ids) expect(JSON.stringify(server.requests[1]?.body).split(JSON.stringify(id))).toHaveLength(3)

    const plain = toApiMessages(transcript)
    expect(checkTranscript(plain)).toEqual({ ok: true })
    const anthropic = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })
    await go(anthropicModel(anthropic, { model: 'm', max_tokens: 64 }), [...transcript])
    expect(checkTranscript(server.requests[2]?.body.messages as [])).toEqual({ ok: true })
  })
})

it('W1 L8 an id that equals another one after cleaning is still a different call', async () => {
  const [first, last] = [frames(withIds(asMessagesEvents, ['functions_Read_0', 'b'])), frames(lastWord.messages)]
  server = await sseServer(sends(chatWire(withIds(asChatChunks, ['functions.Read:0', 'a']))), sends(first), sends(last))
  const anthropic = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })
  const chat = openaiChatModel(openai(), { model: 'm' })
  const messages = anthropicModel(anthropic, { model: 'm', max_tokens: 64 })
  let turns = 0
  const transcript = await go((request) => (turns++ === 0 ? chat : messages)(request), 'go')
  expect(checkTranscript(transcript)).toEqual({ ok: true })
  expect(checkTranscript(toApiMessages(transcript))).toEqual({ ok: true })
  expect(checkTranscript(server.requests[2]?.body.messages as [])).toEqual({ ok: true })
})

describe('calls with ids that another service takes, and this one does not', () => {
  const long = [`chatcmpl-tool-${'a'.repeat(70)}`, `chatcmpl-tool-${'a'.repeat(71)}`] as const
  const blocks = long.map((id) => ({ type: 'tool_use' as const, id, name: 'Read', input: {} }))
  const results = long.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: id }))
  const transcript = (): Message[] => [
    createUserMessage('go'),
    createAssistantMessage(blocks),
    createUserMessage(results),
    createAssistantMessage([{ type: 'text', text: 'So.' }]),
    createUserMessage('on'),
  ]
  const mistral = () => createMistral({ baseURL: `${server.url}/mistral`, apiKey: 'none' })('mistral-large-latest')
  const atMistral = () => new OpenAI({ baseURL: `${server.url}/mistral`, apiKey: 'none', maxRetries: 0 })
  const last = { chat: chatWire(lastWord.chat), responses: frames(lastWord.responses) }

  it.each<[string, string, () => Model]>([
    ['Chat Completions', last.chat, () => openaiChatModel(openai(), { model: 'm' })],
    ['the Responses API', last.responses, () => openaiResponsesModel(openai(), { model: 'm' })],
    ['Mistral', lastAtMistral, () => openaiChatModel(atMistral(), { model: 'm' })],
    [
      'Chat Completions through the AI SDK',
      last.chat,
      () => aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).chat('m'))),
    ],
    [
      'the Responses API through the AI SDK',
      last.responses,
      () => aiSdkModel(checked(createOpenAI({ baseURL: server.url, apiKey: 'none' }).responses('m'))),
    ],
    ['Mistral through the AI SDK', lastAtMistral, () => aiSdkModel(checked(mistral()))],
  ])('W1 L8 are replaced in the call and its result: %s', async (_, wire, make) => {
    server = await sseServer(sends(wire))
    await go(make(), transcript())
    const body = JSON.stringify(server.requests[0]?.body)
    // each result is still that of its call
    const sent = [...body.matchAll(/"(?:tool_call_id|call_id)":"([^"]+)"[^{}]*?"(?:content|output)":"([^"]+)"/g)]
    const pairs = sent.length > 0 ? sent.map(([, id, content]) => [content, id]) : []
    expect(pairs.map(([content]) => content)).toEqual([...long])
    expect(new Set(pairs.map(([, id]) => id)).size).toBe(2)
  })
})
