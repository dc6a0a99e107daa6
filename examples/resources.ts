import { resolve } from 'node:path'
import { createAssistantMessage, defineTool, StreamingToolExecutor, type ToolUseBlock } from 'signalbox'
import { z } from 'zod'

const edit = defineTool({
  name: 'Edit',
  inputSchema: z.object({ file_path: z.string(), text: z.string() }),
  resources: ({ file_path }) => ({ writes: [`file:${resolve(file_path)}`] }),
  call: async ({ file_path }) => ({ data: `edited ${file_path}` }),
})

const executor = new StreamingToolExecutor([edit], () => ({ behavior: 'allow' }), {})
for (const [id, file_path] of Object.entries({ a: '/one.ts', b: '/two.ts', c: '/one.ts' })) {
  const block: ToolUseBlock = { type: 'tool_use', id, name: 'Edit', input: { file_path, text: '' } }
  executor.addTool(block, createAssistantMessage([block]))
}
for (const id of ['a', 'b', 'c']) console.log(id, JSON.stringify(executor.explain(id) ?? 'does not wait'))
