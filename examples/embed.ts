import { createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({ file_path: z.string() }),
  isConcurrencySafe: () => true, // may run beside other safe calls
  call: async ({ file_path }) => ({ data: `the text of ${file_path}` }),
})
const write = defineTool({
  name: 'Write',
  inputSchema: z.object({ file_path: z.string(), text: z.string() }),
  call: async ({ file_path, text }) => ({ data: `${text.length} characters in ${file_path}` }),
})

const askTheUser = async () => ({ behavior: 'allow' as const })
const executor = new StreamingToolExecutor([read, write], askTheUser)

// Call addTool whenever a tool_use block ends in your model's stream.
const reply = createAssistantMessage([])
executor.addTool({ type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'a.ts' } }, reply)
executor.addTool({ type: 'tool_use', id: 'b', name: 'Read', input: { file_path: 'b.ts' } }, reply)
executor.addTool({ type: 'tool_use', id: 'c', name: 'Write', input: { file_path: 'c.ts', text: 'hi' } }, reply)

for await (const { message } of executor.getRemainingResults()) {
  if (message.type === 'user') console.log(JSON.stringify(message.message.content))
}
