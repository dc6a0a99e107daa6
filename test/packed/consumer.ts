/** A host program that imports from many subpaths of the library. */
export const consumer = `
import { z } from 'zod'
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor, type MessageUpdate } from 'signalbox'
import { executorChart, type Admission } from 'signalbox/machines'
import { createRecorder, type Frame } from 'signalbox/inspect'
import { mountInspector, type InspectorSource } from 'signalbox/inspect/app'
import { serveInspector } from 'signalbox/inspect/server'
import { fileResultStore } from 'signalbox/node'

const echo = defineTool({
  name: 'Echo',
  inputSchema: z.object({ text: z.string() }),
  call: async ({ text }) => ({ data: { text } }),
  mapResult: ({ text }, id) => ({ type: 'tool_result', tool_use_id: id, content: text.toUpperCase() }),
})
const executor = new StreamingToolExecutor([echo], allowAllTools, {}, { resultStore: fileResultStore() })
const frames: Frame[] = []
createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
const inspector = await serveInspector(executor)
const page = await (await fetch(inspector.url)).text()
await inspector.close()
executor.addTool({ type: 'tool_use', id: 'a', name: 'Echo', input: { text: 'hello' } }, createAssistantMessage([]))
const why: Admission | undefined = executor.explain('a')
const updates: MessageUpdate[] = []
for await (const update of executor.getRemainingResults()) updates.push(update)
const source: InspectorSource = { shown: executor, commands: ['abort'] }
const mount = [typeof mountInspector, Object.keys(source).length]
const seen = [frames[0]?.type, page.includes('<title>Signalbox inspector</title>'), ...mount]
console.log(JSON.stringify([executorChart().id, why ?? null, updates.length, updates[0]?.message.type, ...seen]))
`

export const consumerPrints = ['executor', null, 1, 'user', 'head', true, 'function', 2]
