import { serveXStateInspect } from '@signalbox/xstate-inspect/server'
import { createWebSocketReceiver } from '@xstate/inspect'
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { WebSocket } from 'ws'
import { z } from 'zod'

const inputSchema = z.object({ path: z.string() })
const read = defineTool({ name: 'Read', inputSchema, call: async ({ path }) => ({ data: `the text of ${path}` }) })
const executor = new StreamingToolExecutor([read], allowAllTools)

const inspect = await serveXStateInspect(executor)

// anywhere on this machine: the receiver of the package, which needs a global WebSocket (Node has one from 22 on)
Object.assign(globalThis, { WebSocket })
const receiver = createWebSocketReceiver({ server: inspect.server, serialize: undefined })
const heard = (type: string) =>
  new Promise<void>((resolve) => receiver.subscribe((event) => event.type === type && resolve()))
const names = new Map<string, string>()
receiver.subscribe((event) => {
  if (event.type === 'service.register') names.set(event.sessionId, event.machine.id)
  if (event.type === 'service.state') console.log(names.get(event.sessionId), JSON.stringify(event.state.value))
})

await heard('service.register')
const block = { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a.ts' } } as const
executor.addTool(block, createAssistantMessage([block]))
const over = heard('service.stop')
for await (const _ of executor.getRemainingResults());
await over
await inspect.close()
