import { allowAllTools, createAssistantMessage, createLocks, defineTool, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const edit = defineTool({
  name: 'Edit',
  inputSchema: z.object({ file_path: z.string() }),
  resources: ({ file_path }) => ({ writes: [`file:${file_path}`] }),
  call: async ({ file_path }) => ({ data: `edited ${file_path}` }),
})

const locks = createLocks()
const [one, other] = [1, 2].map(() => new StreamingToolExecutor([edit], allowAllTools, { locks }))
const reply = createAssistantMessage([])
one?.addTool({ type: 'tool_use', id: 'a', name: 'Edit', input: { file_path: '/x.ts' } }, reply)
other?.addTool({ type: 'tool_use', id: 'b', name: 'Edit', input: { file_path: '/x.ts' } }, reply)
console.log(JSON.stringify(other?.explain('b')))
