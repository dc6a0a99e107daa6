import { SimulatedClock } from 'xstate'
import {
  type AnyTool,
  type AssistantMessage,
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type ExecutorOptions,
  type Message,
  type MessageUpdate,
  StreamingToolExecutor,
  type ToolResultBlock,
  type ToolUseBlock,
  type ToolUseContext,
} from '../../src/index.ts'

export const toolUse = (id: string, name: string, input: unknown = {}): ToolUseBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})

/** Lets everything run that can run without time passing: all microtasks, and what they start. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The stage of a call in the words of the contract. */
export const stateOf = (executor: StreamingToolExecutor, id: string): string => {
  const call = executor.actor.getSnapshot().context.run.calls.find((each) => each.id === id)
  const value: unknown = call?.ref?.getSnapshot().value
  return typeof value === 'object' && value !== null ? (Object.keys(value)[0] ?? 'none') : String(value ?? 'none')
}

/** The gate and the abort state, as the executor chart's own value says. */
export const chartValue = (executor: StreamingToolExecutor): { gate: string; run: string } =>
  executor.actor.getSnapshot().value as { gate: string; run: string }

export const resultOf = ({ message }: { message: Message }): ToolResultBlock => {
  if (message.type !== 'user' || typeof message.message.content === 'string') throw new Error('not a result')
  return message.message.content[0] as ToolResultBlock
}

export const isResult = ({ message }: { message: Message }): boolean => message.type === 'user'

/** What is ready now. Bounded, so that a broken cursor cannot hang a test. */
export const takeAll = (executor: StreamingToolExecutor): MessageUpdate[] => {
  const updates: MessageUpdate[] = []
  for (const update of executor.getCompletedResults()) {
    if (updates.push(update) > 200_000) throw new Error('the results do not end')
  }
  return updates
}

/** What is ready now: `[id, content]` of each result. */
export const takeReady = (executor: StreamingToolExecutor): [string, unknown][] =>
  takeAll(executor)
    .filter(isResult)
    .map(resultOf)
    .map((block) => [block.tool_use_id, block.content])

export const drain = async (executor: StreamingToolExecutor): Promise<MessageUpdate[]> => {
  const updates: MessageUpdate[] = []
  for await (const update of executor.getRemainingResults()) updates.push(update)
  return updates
}

export interface TestTurn {
  readonly executor: StreamingToolExecutor
  readonly clock: SimulatedClock
  readonly host: AbortController
  readonly message: AssistantMessage
  add(id: string, name: string, input?: unknown, options?: { hold?: boolean }): ToolUseBlock
}

/** An executor on a simulated clock that lets everything run unless told otherwise. */
export function testTurn(
  tools: readonly AnyTool[],
  {
    canUseTool = allowAllTools,
    context = {},
    ...options
  }: ExecutorOptions & { canUseTool?: CanUseTool | undefined; context?: Partial<ToolUseContext> } = {},
): TestTurn {
  const clock = new SimulatedClock()
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
      const block = toolUse(id, name, input)
      message.message.content.push(block)
      return executor.addTool(block, message, addOptions)
    },
  }
}
