import type { Message, MessageUpdate, StreamingToolExecutor, ToolResultBlock, ToolUseBlock } from '../../src/index.ts'

export { flush } from '../../src/testing/flush.ts'
export { type HeldTurn as TestTurn, heldTurn as testTurn } from '../../src/testing/held-turn.ts'

export const toolUse = (id: string, name: string, input: unknown = {}): ToolUseBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})

/** The stage of a call in the terms of the contract. */
export const stateOf = (executor: StreamingToolExecutor, id: string): string => {
  const call = executor.actor.getSnapshot().context.run.calls.find((each) => each.id === id)
  const value: unknown = call?.ref?.getSnapshot().value
  return typeof value === 'object' && value !== null ? (Object.keys(value)[0] ?? 'none') : String(value ?? 'none')
}

/** The gate and the abort state, from the executor chart's value. */
export const chartValue = (executor: StreamingToolExecutor): { gate: string; run: string } =>
  executor.actor.getSnapshot().value as { gate: string; run: string }

export const resultOf = ({ message }: { message: Message }): ToolResultBlock => {
  if (message.type !== 'user' || typeof message.message.content === 'string') throw new Error('not a result')
  return message.message.content[0] as ToolResultBlock
}

export const isResult = ({ message }: { message: Message }): boolean => message.type === 'user'

/** The messages that are ready. Limited, so that a broken cursor cannot hang a test. */
export const takeAll = (executor: StreamingToolExecutor): MessageUpdate[] => {
  const updates: MessageUpdate[] = []
  for (const update of executor.getCompletedResults()) {
    if (updates.push(update) > 200_000) throw new Error('the results do not end')
  }
  return updates
}

/** The results that are ready: `[id, content]` of each. */
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
