import { connectMcp, serveMcp } from '@signalbox/mcp'
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { createRecorder } from 'signalbox/inspect'
import { serveInspector } from 'signalbox/inspect/server'
import { z } from 'zod'

const departure = defineTool({
  name: 'Departure',
  inputSchema: z.object({ to: z.string() }),
  call: async ({ to }) => ({ data: `The next train to ${to} leaves at 11:05.` }),
})
const station = await serveMcp({ tools: [departure], permissions: { allow: ['Departure'] }, transport: { http: {} } })

const inspector = await serveInspector() // inspector.url is the page
const recorder = createRecorder({
  onFrame: (frame) => {
    if (frame.type === 'server') console.log(`the server ${frame.name} comes into view`)
    if (frame.type === 'event' && frame.event.startsWith('connection.')) console.log(frame.event)
  },
})

const mcp = await connectMcp({
  servers: { station: { url: station.url as string } },
  onConnection: (connection) => {
    inspector.add(connection)
    recorder.watch(connection)
  },
})

const executor = new StreamingToolExecutor(mcp.tools(), allowAllTools)
inspector.add(executor)
const block = { type: 'tool_use', id: 'a', name: 'mcp__station__Departure', input: { to: 'Rome' } } as const
executor.addTool(block, createAssistantMessage([block]))
for await (const { message } of executor.getRemainingResults()) {
  if (message.type === 'user') console.log(JSON.stringify(message.message.content))
}

await mcp.close()
await station.close()
await inspector.close()
