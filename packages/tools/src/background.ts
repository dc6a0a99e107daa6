import {
  type AnyTool,
  type BackgroundCall,
  type BackgroundReading,
  backgroundOf,
  type ContentBlock,
  defineTool,
  type ToolCallContext,
  type ToolResultMessage,
  toolError,
} from 'signalbox'
import { z } from 'zod'

const id = z.string().describe('The id of the background call, such as bg_1')
const maxWaitMs = 600_000

/** They touch nothing but the list of background calls, so they run beside anything. */
const common = {
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  resources: () => ({}),
  checkPermissions: () => ({ behavior: 'allow' as const }),
}

/** Lists, reads and stops the calls of a query or session that run in the background. */
export function backgroundTools(): AnyTool[] {
  const list = defineTool({
    ...common,
    name: 'BackgroundList',
    description: 'Lists the calls that run in the background, with their ids and status.',
    inputSchema: z.object({}),
    mayRepeat: true,
    call: async (_input, context) => ({ data: callsOf(context).list() }),
    mapResult: (calls, toolUseID) => result(toolUseID, calls.map(lineOf).join('\n') || 'No background calls.'),
  })
  const output = defineTool({
    ...common,
    name: 'BackgroundOutput',
    description:
      'Returns the output of a background call since the previous BackgroundOutput, or its result if it is over. The result is sent to you when the call ends, so use this only if you need output earlier.',
    inputSchema: z.object({
      id,
      waitMs: z.number().int().min(0).max(maxWaitMs).optional().describe('How long to wait for the call to end, in ms'),
    }),
    mayRepeat: true,
    async call({ id, waitMs }, context) {
      const calls = callsOf(context)
      if (waitMs !== undefined) await calls.wait(id, waitMs, context.abortController.signal)
      return { data: calls.readIn(id, context) ?? unknown(id, calls.list()) }
    },
    mapResult: shown,
  })
  const stop = defineTool({
    ...common,
    // a stop has effects, but asks nobody: the call that it ends was permitted
    isReadOnly: () => false,
    name: 'BackgroundStop',
    description: 'Stops a background call, with every process it started, and returns its last output.',
    inputSchema: z.object({ id }),
    async call({ id }, context) {
      const calls = callsOf(context)
      if (calls.stop(id, 'background_stop')) await calls.wait(id, maxWaitMs, context.abortController.signal)
      return { data: calls.readIn(id, context) ?? unknown(id, calls.list()) }
    },
    mapResult: shown,
  })
  return [list, output, stop] as AnyTool[]
}

function callsOf(context: ToolCallContext): NonNullable<ReturnType<typeof backgroundOf>> {
  const calls = backgroundOf(context)
  if (calls !== undefined) return calls
  throw toolError('Nothing runs in the background here.', 'NoBackground')
}

function unknown(id: string, calls: readonly BackgroundCall[]): never {
  const known = calls.length === 0 ? 'There are none.' : `Known ids: ${calls.map((call) => call.id).join(', ')}.`
  throw toolError(`Unknown background call ${id}. ${known}`, 'NoSuchCall')
}

const lineOf = ({ id, status, title }: BackgroundCall): string => `[${id}: ${status}] ${title}`

const result = (tool_use_id: string, content: string | ContentBlock[]) =>
  ({ type: 'tool_result', tool_use_id, content }) as const

/** An outcome replaces the output: it has all that the tool wants to say. */
function shown({ outcome, output, ...call }: BackgroundReading, toolUseID: string) {
  const head = lineOf(call)
  if (outcome === undefined) return result(toolUseID, `${head}\n${output.trimEnd() || '(no new output)'}`)
  const { content } = (outcome[0] as ToolResultMessage).message.content[0]
  if (typeof content === 'string') return result(toolUseID, `${head}\n${content}`)
  return result(toolUseID, [{ type: 'text', text: head }, ...content])
}
