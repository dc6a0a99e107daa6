import { allowAllTools, defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const build = defineTool({
  name: 'Build',
  inputSchema: z.object({ target: z.string() }),
  // a call that takes longer than 20 ms no longer holds the conversation
  background: { afterMs: 20 },
  describe: ({ target }) => target,
  async call({ target }) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    return { data: `built ${target}` }
  },
})

const model = scriptedModel([
  [{ call: 'Build', input: { target: 'site' } }],
  'The build runs. Meanwhile I write the release notes.',
  'The site is built.',
])

const run = query({ messages: 'Build the site.', tools: [build], model, canUseTool: allowAllTools })
for await (const message of run) {
  if (message.type !== 'assistant' && message.type !== 'user') continue
  for (const block of message.message.content) {
    if (typeof block === 'string') continue
    if (block.type === 'text') console.log(`${message.type}: ${block.text}`)
    if (block.type === 'tool_result') console.log(`result: ${block.content}`)
  }
}
console.log(run.result?.reason)
