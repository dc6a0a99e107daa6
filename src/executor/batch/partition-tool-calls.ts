import { conflictOf, isExclusive, keysOf, type Reclassification } from '../../../machines/index.ts'
import type { ToolUseBlock } from '../../messages/message.ts'
import { askForKeys } from '../../pipeline/call-keys.ts'
import { isConcurrencySafe } from '../../pipeline/classify-call.ts'
import { readInput } from '../../pipeline/read-input.ts'
import { ToolBox } from '../../tool/tool-box.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import { readBlock } from '../intake.ts'
import { readOptions } from '../options.ts'

/** Calls that may run together. */
export interface ToolCallBatch {
  /** Whether they may run in parallel. An unsafe call that names no resources is a batch of its own. */
  isConcurrencySafe: boolean
  blocks: ToolUseBlock[]
}

/** Consecutive calls that do not conflict form one batch. */
export function partitionToolCalls(
  blocks: readonly ToolUseBlock[],
  context: Pick<ToolUseContext, 'options'> & Partial<ToolUseContext>,
  { maxInputChars }: { maxInputChars?: number | undefined } = {},
): ToolCallBatch[] {
  const tools = new ToolBox(context.options.tools)
  const settings = readOptions({ maxInputChars })
  const batches: ToolCallBatch[] = []
  let together: Reclassification[] = []
  for (const block of blocks) {
    const call = classify(tools, block, settings.maxInputChars, context)
    const keys = keysOf(call)
    if (together.length > 0 && together.every((each) => conflictOf(keysOf(each), keys) === undefined)) {
      batches.at(-1)?.blocks.push(block)
      together.push(call)
    } else {
      batches.push({ isConcurrencySafe: !isExclusive(call), blocks: [block] })
      together = [call]
    }
  }
  return batches
}

const unsafe: Reclassification = { isSafe: false, keys: undefined }

function classify(
  tools: ToolBox,
  block: ToolUseBlock,
  maxInputChars: number,
  context: Pick<ToolUseContext, 'options'> & Partial<ToolUseContext>,
): Reclassification {
  const { name, input } = readBlock(block)
  const tool = tools.find(name)
  if (tool === undefined) return unsafe
  const reading = readInput(tool, input, maxInputChars)
  if (reading.status !== 'valid') return unsafe
  const keys = askForKeys(tool, reading.input, context as ToolUseContext)?.keys
  return { isSafe: isConcurrencySafe(tool, reading.input), keys }
}
