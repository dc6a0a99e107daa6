import { SignalboxError } from '../../base/signalbox-error.ts'
import { createAssistantMessage } from '../../messages/create-messages.ts'
import type { AssistantMessage, ToolUseBlock } from '../../messages/message.ts'
import { resultTexts } from '../../results/result-texts.ts'
import type { CanUseTool } from '../../tool/permission.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import type { MessageUpdate } from '../delivery.ts'
import type { ExecutorOptions } from '../options.ts'
import { StreamingToolExecutor } from '../streaming-tool-executor.ts'
import { partitionToolCalls, type ToolCallBatch } from './partition-tool-calls.ts'

/** A context with the tools: at least `{ options: { tools } }`. */
export type BatchContext = Pick<ToolUseContext, 'options'> & Partial<ToolUseContext>

/**
 * For hosts that do not stream: runs the batches one after the other, through the same charts. The tools are those of
 * `context.options.tools`. Breaking out of the loop ends the run.
 */
export function runTools(
  blocks: readonly ToolUseBlock[],
  assistantMessages: readonly AssistantMessage[],
  canUseTool: CanUseTool | undefined,
  context: BatchContext,
  options?: ExecutorOptions,
): AsyncGenerator<MessageUpdate, void, undefined> {
  assertHasTools(context)
  const executor = new StreamingToolExecutor(context.options.tools, canUseTool, context, options)
  const batches = partitionToolCalls(blocks, context, { maxInputChars: options?.maxInputChars })
  const updates = inTurn(executor, batches, sourceFinder(assistantMessages))
  executor.on('deferred', ({ toolUseID, toolName }) => {
    const { toolUseResult: message } = resultTexts.nobodyAnswersLater(toolName)
    executor.answer(toolUseID, { behavior: 'deny', message })
  })
  // a sleeping generator notices its end only when it wakes, and the discard wakes it
  const discardThen =
    <Arg, Step>(leave: (arg: Arg) => Step) =>
    (arg: Arg): Step => {
      executor.discard()
      return leave(arg)
    }
  updates.return = discardThen(updates.return.bind(updates))
  updates.throw = discardThen(updates.throw.bind(updates))
  return updates
}

async function* inTurn(
  executor: StreamingToolExecutor,
  batches: readonly ToolCallBatch[],
  sourceOf: (block: ToolUseBlock) => AssistantMessage,
): AsyncGenerator<MessageUpdate, void, undefined> {
  try {
    for (const batch of batches) {
      for (const block of batch.blocks) executor.addTool(block, sourceOf(block))
      yield* executor.getRemainingResults()
    }
  } finally {
    executor.discard()
  }
}

/** Runs one call alone, through the same charts. */
export function runToolUse(
  block: ToolUseBlock,
  assistantMessage: AssistantMessage,
  canUseTool: CanUseTool | undefined,
  context: BatchContext,
  options?: ExecutorOptions,
): AsyncGenerator<MessageUpdate, void, undefined> {
  return runTools([block], [assistantMessage], canUseTool, context, options)
}

function assertHasTools(context: BatchContext): void {
  if (Array.isArray(context?.options?.tools)) return
  throw new SignalboxError(
    'invalid_context',
    'context.options.tools is missing. Pass a context with the tools: { options: { tools: [ … ] } }.',
  )
}

/** The message of a block: the one that contains it, else one with the same id, else the last message. */
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
