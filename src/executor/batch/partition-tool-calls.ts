import type { ToolUseBlock } from '../../messages/message.ts'
import { isConcurrencySafe } from '../../pipeline/classify-call.ts'
import { readInput } from '../../pipeline/read-input.ts'
import { ToolBox } from '../../tool/tool-box.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import { readBlock } from '../intake.ts'
import { readOptions } from '../options.ts'

/** Calls that may run together. */
export interface ToolCallBatch {
  isConcurrencySafe: boolean
  blocks: ToolUseBlock[]
}

/** Consecutive safe calls form one batch; each unsafe call is its own. */
export function partitionToolCalls(
  blocks: readonly ToolUseBlock[],
  context: Pick<ToolUseContext, 'options'>,
  { maxInputChars }: { maxInputChars?: number | undefined } = {},
): ToolCallBatch[] {
  const tools = new ToolBox(context.options.tools)
  const settings = readOptions({ maxInputChars })
  const batches: ToolCallBatch[] = []
  for (const block of blocks) {
    const isSafe = isSafeBlock(tools, block, settings.maxInputChars)
    const last = batches.at(-1)
    if (isSafe && last?.isConcurrencySafe === true) last.blocks.push(block)
    else batches.push({ isConcurrencySafe: isSafe, blocks: [block] })
  }
  return batches
}

function isSafeBlock(tools: ToolBox, block: ToolUseBlock, maxInputChars: number): boolean {
  const { name, input } = readBlock(block)
  const tool = tools.find(name)
  if (tool === undefined) return false
  const reading = readInput(tool, input, maxInputChars)
  return reading.status === 'valid' && isConcurrencySafe(tool, reading.input)
}
