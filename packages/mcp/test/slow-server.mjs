// A server of the stock SDK whose tool reports progress and then never answers.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'slow', version: '1.0.0' })
const inputSchema = { steps: z.number(), words: z.string() }
server.registerTool('work', { inputSchema }, async ({ steps, words }, { _meta, sendNotification, signal }) => {
  process.stderr.write('began\n')
  for (let progress = 1; progress <= steps; progress++) {
    const params = { progressToken: _meta.progressToken, progress, total: steps + 1, message: words }
    await sendNotification({ method: 'notifications/progress', params })
  }
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  process.stderr.write('cancelled\n')
  return { content: [] }
})
server.registerResource('slow', 'slow://one', {}, async (_uri, { _meta, sendNotification }) => {
  const params = { progressToken: _meta.progressToken, progress: 1, message: 'looking' }
  await sendNotification({ method: 'notifications/progress', params })
  return new Promise(() => undefined)
})
await server.connect(new StdioServerTransport())
