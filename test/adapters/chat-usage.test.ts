import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { openaiChatModel } from '../../src/models/openai/index.ts'
import { sends, sseServer } from './support/sse-server.ts'
import { talk } from './support/talk.ts'
import { chat, chatCall, lastChat } from './support/wires.ts'

it('Chat Completions: usage that follows the finish reason is reported, once for each reply', async () => {
  const server = await sseServer(sends(chat('c1', [chatCall('call_1', 'Read', '{}')], 'tool_calls')), sends(lastChat))
  const client = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })
  const { messages } = await talk(openaiChatModel(client, { model: 'm' }))
  const replies = messages.filter((each) => each.type === 'system' && each.subtype === 'model_reply')
  const usage = { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 }
  expect(replies).toMatchObject([
    { stopReason: 'tool_use', usage },
    { stopReason: 'end_turn', usage },
  ])
  await server.close()
})
