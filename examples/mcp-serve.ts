import { connectMcp, serveMcp } from '@signalbox/mcp'
import { allowAllTools, createAssistantMessage, defineTool, runToolUse } from 'signalbox'
import { z } from 'zod'

const departure = defineTool({
  name: 'Departure',
  description: 'Tells when the next train leaves.',
  inputSchema: z.object({ to: z.string() }),
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  call: async ({ to }) => ({ data: `The next train to ${to} leaves at 11:05.` }),
})

// over HTTP on loopback; without `transport`, over standard input and output
const server = await serveMcp({ tools: [departure], permissions: { allow: ['Departure'] }, transport: { http: {} } })

// any MCP client can connect now; this is the one of @signalbox/mcp
const mcp = await connectMcp({ servers: { station: { url: server.url as string } } })
const block = { type: 'tool_use', id: 'a', name: 'mcp__station__Departure', input: { to: 'Rome' } } as const
const context = { options: { tools: mcp.tools() } }
for await (const { message } of runToolUse(block, createAssistantMessage([block]), allowAllTools, context)) {
  if (message.type === 'user') console.log(JSON.stringify(message.message.content))
}

await mcp.close()
await server.close()
