import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import { isConcurrencySafe, yieldsToInterrupt } from '../pipeline/classify-call.ts'
import { type InputReading, readInput } from '../pipeline/read-input.ts'
import { isSameInput } from '../pipeline/same-input.ts'
import type { Arrival, ToolCall } from '../pipeline/tool-call.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolBox } from '../tool/tool-box.ts'

const notRead: InputReading = { status: 'invalid', problem: '' }

/** What a model may send as a block, brought into shape. Anything can come; nothing is thrown. */
export class Intake {
  readonly #tools: ToolBox
  readonly #maxInputChars: number
  readonly #mintId: () => string
  /** By the id the model gave. More than one where ids clashed. */
  readonly #known = new Map<string, { name: string; input: unknown; call: ToolCall }[]>()

  constructor(tools: ToolBox, maxInputChars: number, mintId: () => string) {
    this.#tools = tools
    this.#maxInputChars = maxInputChars
    this.#mintId = mintId
  }

  /** The call that this block already stands for: a provider may send the same block twice. */
  findSame({ id, name, input }: ToolUseBlock): ToolCall | undefined {
    return this.#known.get(id)?.find((known) => known.name === name && isSameInput(known.input, input))?.call
  }

  find(id: string): ToolCall | undefined {
    return this.#known.get(id)?.find(({ call }) => call.id === id)?.call
  }

  remember(block: ToolUseBlock, call: ToolCall): void {
    for (const id of new Set([block.id, call.id])) {
      if (id === '') continue
      const known = { name: block.name, input: block.input, call }
      const others = this.#known.get(id)
      if (others === undefined) this.#known.set(id, [known])
      else others.push(known)
    }
  }

  receive(block: ToolUseBlock, assistantMessage: AssistantMessage, isHeld: boolean): Arrival {
    const isClash = this.#known.has(block.id)
    const id = isClash || block.id === '' ? this.#mintId() : block.id
    const tool = this.#tools.find(block.name)
    const answer = answerWithoutRun(isClash, block, tool)
    const runs = answer === undefined ? tool : undefined
    const reading = runs === undefined ? notRead : readInput(runs, block.input, this.#maxInputChars)
    return {
      id,
      name: block.name,
      block: id === block.id ? block : { ...block, id },
      assistantMessage,
      tool,
      reading,
      answer,
      isSafe: runs !== undefined && reading.status === 'valid' && isConcurrencySafe(runs, reading.input),
      yieldsToInterrupt: runs !== undefined && yieldsToInterrupt(runs),
      isHeld,
    }
  }
}

/** The result of a call that cannot run. */
function answerWithoutRun(isClash: boolean, block: ToolUseBlock, tool: AnyTool | undefined): ResultText | undefined {
  if (isClash) return resultTexts.idClash(block.id)
  return tool === undefined ? resultTexts.unknownTool(block.name) : undefined
}

/** The block as far as it can be read. A missing id or name becomes the empty string, which no tool has. */
export function readBlock(given: unknown): ToolUseBlock {
  try {
    const { id, name, input } = (given ?? {}) as Partial<Record<'id' | 'name' | 'input', unknown>>
    return {
      type: 'tool_use',
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      input,
    }
  } catch {
    return { type: 'tool_use', id: '', name: '', input: undefined }
  }
}

/** Gives the block in the transcript the id that its result will carry; the API pairs them by it. */
export function renameInTranscript(given: unknown, id: string, assistantMessage: AssistantMessage): void {
  try {
    const content = assistantMessage.message.content
    const at = content.indexOf(given as ToolUseBlock)
    if (Object.isFrozen(given)) {
      if (at >= 0) content[at] = { ...(given as ToolUseBlock), id }
    } else (given as ToolUseBlock).id = id
  } catch {
    // a transcript that cannot be written: the block that `addTool` returns has the id
  }
}
