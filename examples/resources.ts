import { resolve } from 'node:path'
import { defineTool, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const edit = defineTool({
  name: 'Edit',
  inputSchema: z.object({ file_path: z.string(), text: z.string() }),
  resources: ({ file_path }) => ({ writes: [`file:${resolve(file_path)}`] }),
  call: async ({ file_path }) => ({ data: `edited ${file_path}` }),
})

const executor = new StreamingToolExecutor([edit], () => ({ behavior: 'allow' }), {})
for (const [id, file_path] of Object.entries({ a: '/one.ts', b: '/two.ts', c: '/one.ts' })) {
  executor.addTool({ type: 'tool_use', id, name: 'Edit', input: { file_path, text: '' } })
}
for (const id of ['a', 'b', 'c']) console.log(id, JSON.stringify(executor.explain(id) ?? 'does not wait'))
