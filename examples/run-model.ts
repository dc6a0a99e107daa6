import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { createRecorder, foldRun, newRunState, type RunState, waitOf, whyWaiting } from 'signalbox/inspect'
import { z } from 'zod'

const inputSchema = z.object({ path: z.string() })
const call = () => new Promise<{ data: string }>(() => undefined)
const read = defineTool({ name: 'Read', inputSchema, isConcurrencySafe: () => true, call })
const write = defineTool({ name: 'Write', inputSchema, call })

let run: RunState | undefined
const recorder = createRecorder({
  onFrame(frame) {
    if (frame.type === 'run') run = newRunState(frame)
    else if (run !== undefined) foldRun(run, frame, { newActor: (state) => state, newCall: (state) => state })
  },
})

const executor = new StreamingToolExecutor([read, write], allowAllTools)
recorder.watch(executor)
const reply = createAssistantMessage([])
executor.addTool({ type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a.ts' } }, reply)
executor.addTool({ type: 'tool_use', id: 'b', name: 'Write', input: { path: 'b.ts' } }, reply)

for (const { index, label, stage } of run?.calls ?? []) {
  const wait = run && waitOf(run, index)
  const nameOf = (id: string) => run?.byId.get(id)?.label
  console.log(`${label}: ${stage}${wait ? `, ${whyWaiting(wait, { maxConcurrency: 10, nameOf })}` : ''}`)
}
executor.discard()
