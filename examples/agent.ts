import { defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({ path: z.string() }),
  isConcurrencySafe: () => true, // may run beside other safe calls; the default is to run alone
  call: async ({ path }) => ({ data: `export const name = '${path}'` }),
})
// replace with a real model, such as anthropicModel(new Anthropic(), { model: 'claude-opus-5-5', max_tokens: 8_192 })
const model = scriptedModel([['Let me see.', { call: 'Read', input: { path: 'a.ts' } }], 'It exports its own name.'])

const run = query({ messages: 'What does a.ts do?', tools: [read], model, canUseTool: () => ({ behavior: 'allow' }) })
for await (const message of run) {
  if (message.type === 'assistant' || message.type === 'user') console.log(JSON.stringify(message.message.content))
}
if (run.result?.reason !== 'completed') console.error(run.result)
