import { defineTool, query } from 'signalbox'
import { mountInspector } from 'signalbox/inspect/app'
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

const element = document.querySelector('#inspector') as Element
const inspector = mountInspector(element, { shown: run, commands: ['interrupt', 'abort', 'answer'] })
for await (const message of run) if (message.type === 'user') console.log(message.toolUseResult)

addEventListener('pagehide', () => inspector.unmount())
