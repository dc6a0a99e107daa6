import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allowAllTools, defineTool, type Model, query, toApiMessages } from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { openaiChatModel, openaiResponsesModel } from '../../src/models/openai/index.ts'
import { apiInShort } from '../support/query.ts'
import { checked } from '../support/services/checked.ts'
import { asChatChunks, asMessagesEvents, asResponsesEvents, lastWord } from './support/one-reply.ts'
import { frame, frames, type SseServer, sends, sseServer } from './support/sse-server.ts'

let server: SseServer
afterEach(() => server.close())

const chatWire = (chunks: readonly object[]) => frames(chunks, false) + frame('[DONE]')

const services: [string, readonly [string, string], (baseURL: string) => Model][] = [
  [
    'the Messages API',
    [frames(asMessagesEvents), frames(lastWord.messages)],
    (baseURL) =>
      anthropicModel(new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0 }), { model: 'm', max_tokens: 64 }),
  ],
  [
    'the Responses API',
    [frames(asResponsesEvents), frames(lastWord.responses)],
    (baseURL) => openaiResponsesModel(new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 }), { model: 'm' }),
  ],
  [
    'Chat Completions',
    [chatWire(asChatChunks), chatWire(lastWord.chat)],
    (baseURL) => openaiChatModel(new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 }), { model: 'm' }),
  ],
  [
    'the AI SDK',
    [chatWire(asChatChunks), chatWire(lastWord.chat)],
    (baseURL) => aiSdkModel(checked(createOpenAI({ baseURL, apiKey: 'none' }).chat('m'))),
  ],
]

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({ path: z.string(), lines: z.array(z.number()) }),
  call: async ({ path }) => ({ data: `text of ${path}` }),
})
const list = defineTool({
  name: 'List',
  inputSchema: z.object({}),
  call: async () => {
    throw new RangeError('no such folder')
  },
})

describe('a conversation over the wire', () => {
  it.each(services)('L1 L4 is the same at every service: %s', async (_, [first, last], make) => {
    server = await sseServer(sends(first), sends(last))
    const run = query({ messages: 'go', tools: [read, list], model: make(server.url), canUseTool: allowAllTools })
    let step = await run.next()
    while (step.done !== true) step = await run.next()
    expect(step.value).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    const transcript = toApiMessages(run.transcript)
    const ofEverybody = /: (server_tool_use|web_search_tool_result|openai_item)$/
    expect(apiInShort(transcript).filter((line) => !ofEverybody.test(line))).toEqual([
      'user: go',
      'assistant: Let me “see”.',
      'assistant: call call_1 Read {"path":"ä.ts","lines":[1,2]}',
      'assistant: call call_2 List {}',
      'user: result call_1 text of ä.ts',
      'user: result call_2 error',
      'assistant: Done.',
    ])
    expect(server.requests).toHaveLength(2)
  })
})
