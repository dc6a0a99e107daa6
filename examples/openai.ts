import OpenAI from 'openai'
import { defineTool, query } from 'signalbox'
import { openaiChatModel } from 'signalbox/openai'
import { z } from 'zod'

const weather = defineTool({
  name: 'Weather',
  description: 'The weather in a place, now.',
  inputSchema: z.object({ place: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ place }) => ({ data: `Sunny in ${place}.` }),
})
// reads OPENAI_API_KEY; the query retries, because it knows which calls had already run
const model = openaiChatModel(new OpenAI({ maxRetries: 0 }), { model: 'gpt-5.5' })

const run = query({
  system: 'Be brief.',
  messages: 'How is the weather in Oslo?',
  tools: [weather],
  model,
  canUseTool: () => ({ behavior: 'allow' }),
})
for await (const message of run) {
  if (message.type !== 'assistant') continue
  for (const block of message.message.content) if (block.type === 'text') console.log(block.text)
}
if (run.result?.reason !== 'completed') console.error(run.result)
