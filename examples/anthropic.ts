import Anthropic from '@anthropic-ai/sdk'
import { defineTool, query } from 'signalbox'
import { anthropicModel } from 'signalbox/anthropic'
import { z } from 'zod'

const weather = defineTool({
  name: 'Weather',
  description: 'The weather in a place, now.',
  inputSchema: z.object({ place: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ place }) => ({ data: `Sunny in ${place}.` }),
})
// reads ANTHROPIC_API_KEY; the query retries, because it knows which calls had already run
const client = new Anthropic({ maxRetries: 0 })
const model = anthropicModel(client, { model: 'claude-opus-5-5', max_tokens: 1_024 })

const run = query({
  messages: 'How is the weather in Oslo?',
  tools: [weather],
  model,
  canUseTool: () => ({ behavior: 'allow' }),
  includeStreamEvents: true,
})
for await (const message of run) {
  if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue
  if (message.event.delta.type === 'text_delta') console.log(message.event.delta.text)
}
if (run.result?.reason !== 'completed') console.error(run.result)
