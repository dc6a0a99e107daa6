import {
  type AddOptions,
  type AnyTool,
  type AssistantMessage,
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type ExecutorOptions,
  StreamingToolExecutor,
  type ToolUseBlock,
  type ToolUseContext,
} from '../index.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'

export interface HeldTurn {
  readonly executor: StreamingToolExecutor
  readonly clock: SimulatedClock
  /** The host's controller. */
  readonly host: AbortController
  /** The assistant message that contains the calls. */
  readonly message: AssistantMessage
  /** Adds a call, as a streaming model does. */
  add(id: string, name: string, input?: unknown, options?: AddOptions): ToolUseBlock
}

export interface HeldTurnOptions extends ExecutorOptions {
  /** @default allowAllTools */
  canUseTool?: CanUseTool | undefined
  context?: Partial<ToolUseContext> | undefined
}

/** An executor on a simulated clock. All calls are allowed by default. */
export function heldTurn(
  tools: readonly AnyTool[],
  { canUseTool = allowAllTools, context = {}, ...options }: HeldTurnOptions = {},
): HeldTurn {
  const clock = simulatedClock()
  const host = context.abortController ?? new AbortController()
  const message = createAssistantMessage([])
  const executor = new StreamingToolExecutor(
    tools,
    canUseTool,
    { ...context, abortController: host },
    { clock, ...options },
  )
  return {
    executor,
    clock,
    host,
    message,
    add(id, name, input = {}, addOptions) {
      const block: ToolUseBlock = { type: 'tool_use', id, name, input }
      message.message.content.push(block)
      return executor.addTool(block, message, addOptions)
    },
  }
}
