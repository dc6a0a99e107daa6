import type { MessageUpdate, ToolUseBlock } from 'signalbox'
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

const executor = new StreamingToolExecutor([read, write], async () => ({ behavior: 'allow' }))
const reply = createAssistantMessage([])
for await (const block of toolUseBlocksOfYourModel()) {
  reply.message.content.push(executor.addTool(block, reply)) // starts at once, if it may
  for (const update of executor.getCompletedResults()) show(update)
}
for await (const update of executor.getRemainingResults()) show(update)

function show({ message }: MessageUpdate): void {
  if (message.type === 'user') console.log(JSON.stringify(message.message.content))
}

// Stands for your model's stream: yields each tool_use block when it ends.
async function* toolUseBlocksOfYourModel(): AsyncGenerator<ToolUseBlock> {
  yield { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'a.ts' } }
  yield { type: 'tool_use', id: 'b', name: 'Read', input: { file_path: 'b.ts' } }
  yield { type: 'tool_use', id: 'c', name: 'Write', input: { file_path: 'c.ts', text: 'hi' } }
}
