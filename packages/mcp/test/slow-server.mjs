// A server of the stock SDK whose tool reports progress and then never answers.
import process from 'node:process'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const server = new McpServer({ name: 'slow', version: '1.0.0' })
const inputSchema = z.object({ steps: z.number(), words: z.string() })
server.registerTool('work', { inputSchema }, async ({ steps, words }, { mcpReq }) => {
  process.stderr.write('began\n')
  for (let progress = 1; progress <= steps; progress++) {
    const params = { progressToken: mcpReq._meta.progressToken, progress, total: steps + 1, message: words }
    await mcpReq.notify({ method: 'notifications/progress', params })
  }
  await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
  process.stderr.write('cancelled\n')
  return { content: [] }
})
server.registerResource('slow', 'slow://one', {}, async (_uri, { mcpReq }) => {
  const params = { progressToken: mcpReq._meta.progressToken, progress: 1, message: 'looking' }
  await mcpReq.notify({ method: 'notifications/progress', params })
  return new Promise(() => undefined)
})
await server.connect(new StdioServerTransport())
