import { defineTool, query } from 'signalbox'
import { serveInspector } from 'signalbox/inspect/server'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({ path: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ path }) => ({ data: `the text of ${path}` }),
})
const model = scriptedModel([[{ call: 'Read', input: { path: 'a.ts' } }], 'Read it.'])
const run = query({ messages: 'Read a.ts.', tools: [read], model, canUseTool: () => ({ behavior: 'allow' }) })

const inspector = await serveInspector(run, { commands: ['interrupt', 'abort', 'answer'] })
console.log(`open ${inspector.url}`)
for await (const message of run) if (message.type === 'user') console.log(message.toolUseResult)
await inspector.close()
