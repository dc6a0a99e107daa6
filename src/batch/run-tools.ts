import type { MessageUpdate } from '../executor/delivery.ts'
import type { ExecutorOptions } from '../executor/options.ts'
import { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { partitionToolCalls } from './partition-tool-calls.ts'

/** For hosts that do not stream: batches in turn, through the same charts. Who stops reading ends the run. */
export async function* runTools(
  blocks: readonly ToolUseBlock[],
  assistantMessages: readonly AssistantMessage[],
  canUseTool: CanUseTool | undefined,
  context: ToolUseContext,
  options?: ExecutorOptions,
): AsyncGenerator<MessageUpdate, void, undefined> {
  const executor = new StreamingToolExecutor(context.options.tools, canUseTool, context, options)
  const sourceOf = sourceFinder(assistantMessages)
  const limit = options?.maxInputChars === undefined ? {} : { maxInputChars: options.maxInputChars }
  try {
    for (const batch of partitionToolCalls(blocks, context, limit)) {
      for (const block of batch.blocks) executor.addTool(block, sourceOf(block))
      yield* executor.getRemainingResults()
    }
  } finally {
    executor.discard()
  }
}

/** One call alone, through the same charts. */
export async function* runToolUse(
  block: ToolUseBlock,
  assistantMessage: AssistantMessage,
  canUseTool: CanUseTool | undefined,
  context: ToolUseContext,
  options?: ExecutorOptions,
): AsyncGenerator<MessageUpdate, void, undefined> {
  yield* runTools([block], [assistantMessage], canUseTool, context, options)
}

/** The message that holds a block: the very block, else one with its id, else the last message. */
function sourceFinder(messages: readonly AssistantMessage[]): (block: ToolUseBlock) => AssistantMessage {
  const bySelf = new Map<unknown, AssistantMessage>()
  for (const message of messages) {
    for (const block of message.message.content) {
      if (block.type !== 'tool_use') continue
      bySelf.set(block, message)
      if (!bySelf.has(block.id)) bySelf.set(block.id, message)
    }
  }
  const last = messages.at(-1)
  return (block) => bySelf.get(block) ?? bySelf.get(block?.id) ?? last ?? createAssistantMessage([block])
}
