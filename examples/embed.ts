import { createAssistantMessage, defineTool, type MessageUpdate, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const inputSchema = z.object({ path: z.string() })
const read = defineTool({
  name: 'Read',
  inputSchema,
  isConcurrencySafe: () => true, // may run beside other safe calls
  call: async ({ path }) => ({ data: `the text of ${path}` }),
})
const write = defineTool({ name: 'Write', inputSchema, call: async ({ path }) => ({ data: `wrote ${path}` }) })

const executor = new StreamingToolExecutor([read, write], async () => ({ behavior: 'allow' }))
const reply = createAssistantMessage([])
const show = ({ message }: MessageUpdate) => console.log(JSON.stringify('message' in message && message.message))

// replace with your model's stream: one tool_use block each time a block ends
for await (const [id, name, path] of ['a Read a.ts', 'b Read b.ts', 'c Write c.ts'].map((line) => line.split(' '))) {
  const block = executor.addTool({ type: 'tool_use', id: `${id}`, name: `${name}`, input: { path } }, reply)
  reply.message.content.push(block) // if the call may run, it is running already
  for (const update of executor.getCompletedResults()) show(update)
}
for await (const update of executor.getRemainingResults()) show(update)
