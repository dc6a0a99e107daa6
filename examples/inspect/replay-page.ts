import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { createRecorder, type Frame } from 'signalbox/inspect'
import { writeReplayPage } from 'signalbox/inspect/replay'
import { z } from 'zod'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({ path: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ path }) => ({ data: `the text of ${path}` }),
})
const executor = new StreamingToolExecutor([read], allowAllTools)
const frames: Frame[] = []
createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)

const block = { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a.ts' } } as const
executor.addTool(block, createAssistantMessage([block]))
for await (const _update of executor.getRemainingResults());

const bytes = await writeReplayPage(frames, 'turn.html')
console.log(bytes > 500_000 ? 'turn.html is there' : 'turn.html is too small')
