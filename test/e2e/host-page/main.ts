import { createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { createRecorder } from 'signalbox/inspect'
import { mountInspector } from 'signalbox/inspect/app'
import { z } from 'zod'

/** A turn that stands still: two reads run, a write waits. */
function heldTurn(): StreamingToolExecutor {
  const call = (_input: object, { abortController: { signal } }: { abortController: AbortController }) =>
    new Promise<{ data: string }>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const inputSchema = z.object({ file_path: z.string() })
  const read = defineTool({ name: 'Read', inputSchema, isConcurrencySafe: () => true, call })
  const write = defineTool({ name: 'Write', inputSchema, call })
  const executor = new StreamingToolExecutor([read, write], async () => ({ behavior: 'allow' }))
  for (const [id, name] of [
    ['a', 'Read'],
    ['b', 'Read'],
    ['c', 'Write'],
  ] as const) {
    executor.addTool({ type: 'tool_use', id, name, input: { file_path: `${id}.ts` } }, createAssistantMessage([]))
  }
  return executor
}

const offered = { mountInspector, createRecorder, heldTurn }

declare global {
  /** The functions by which the tests drive the page. */
  var host: typeof offered
}

globalThis.host = offered
