import { serveStatelyInspect } from '@signalbox/stately-inspect/server'
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect'
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const inputSchema = z.object({ path: z.string() })
const read = defineTool({ name: 'Read', inputSchema, call: async ({ path }) => ({ data: `the text of ${path}` }) })
const executor = new StreamingToolExecutor([read], allowAllTools)

const inspect = await serveStatelyInspect(executor)
// inspect.url, opened in a browser, is the hosted inspector

// anywhere on this machine: the receiver of the package
const receiver = createWebSocketReceiver({ server: inspect.server })
const heard = (isIt: (event: StatelyInspectionEvent) => boolean) =>
  new Promise<void>((resolve) => receiver.subscribe((event) => isIt(event) && resolve()))
const names = new Map<string | undefined, string>([[undefined, 'host']])
receiver.subscribe((event) => {
  if (event.type === '@xstate.actor') names.set(event.sessionId, event.name)
  if (event.type !== '@xstate.event') return
  console.log(`${names.get(event.sourceId)} → ${names.get(event.sessionId)}: ${event.event.type}`)
})

await heard(({ type }) => type === '@xstate.actor')
const block = { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a.ts' } } as const
executor.addTool(block, createAssistantMessage([block]))
const over = heard((event) => event.type === '@xstate.snapshot' && event.snapshot.status === 'done')
for await (const _ of executor.getRemainingResults());
await over
await inspect.close()
