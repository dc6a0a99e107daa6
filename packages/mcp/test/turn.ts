import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  type ExecutorOptions,
  type Message,
  StreamingToolExecutor,
  type ToolResultBlock,
} from '../../../src/index.ts'
import { watchInvariants } from '../../../src/testing/index.ts'

export interface McpTurn {
  readonly executor: StreamingToolExecutor
  /** How many calls are running. */
  running(): number
  /** One line per result, in order; throws if an invariant is broken. */
  results(): Promise<string[]>
}

/** A turn of calls, `[tool, input]`, checked by the invariants. */
export function startTurn(
  tools: readonly AnyTool[],
  calls: readonly (readonly [name: string, input: object])[],
  options: ExecutorOptions = {},
): McpTurn {
  const executor = new StreamingToolExecutor(tools, allowAllTools, {}, options)
  const watch = watchInvariants(executor)
  const reply = createAssistantMessage([])
  for (const [at, [name, input]] of calls.entries()) {
    executor.addTool({ type: 'tool_use', id: `call_${at}`, name, input }, reply)
  }
  return {
    executor,
    running: () => executor.actor.getSnapshot().context.run.executing.size,
    async results() {
      const lines: string[] = []
      for await (const { message } of executor.getRemainingResults()) lines.push(...lineFor(message))
      watch.assert()
      return lines
    },
  }
}

function lineFor(message: Message): string[] {
  if (message.type !== 'user') return []
  const { tool_use_id, content, is_error } = message.message.content[0] as ToolResultBlock
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return [`${tool_use_id}${is_error === true ? ' failed' : ''}: ${text}`]
}
