import { allowAllTools, defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const add = defineTool({
  name: 'Add',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  call: async ({ a, b }) => ({ data: `${a + b}` }),
})
const model = scriptedModel([
  ['Let me count.', { call: 'Add', input: { a: 1, b: 2 } }],
  ({ messages }) => `It is ${JSON.stringify(messages.at(-1)?.content)}.`,
])

for await (const message of query({ messages: 'What is 1 + 2?', tools: [add], model, canUseTool: allowAllTools })) {
  if (message.type === 'assistant') console.log(JSON.stringify(message.message.content[0]))
}
