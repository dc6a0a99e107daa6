import { readField } from '../errors/read-field.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { Arrival } from '../pipeline/call-facts.ts'
import { isConcurrencySafe, yieldsToInterrupt } from '../pipeline/classify-call.ts'
import { type InputReading, readInput } from '../pipeline/read-input.ts'
import { isSameInput } from '../pipeline/same-input.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolBox } from '../tool/tool-box.ts'

/** How a call is taken in. */
export interface AddOptions {
  /**
   * Keeps the call from starting until `release`: always, or as a function of whether the call is safe.
   * @default false
   */
  hold?: boolean | ((isSafe: boolean) => boolean) | undefined
  /** The call never runs, and this is its error result: its arguments could not be read, for instance. */
  error?: string | undefined
}

interface Known {
  readonly input: unknown
  readonly call: ToolCall
}

const notRead: InputReading = { status: 'invalid', problem: '' }

/** What a model may send as a block, brought into shape. Anything can come; nothing is thrown. */
export class Intake {
  readonly #tools: ToolBox
  readonly #maxInputChars: number
  readonly #mintId: () => string
  /** By the id the model gave, and then by what can be told apart at a glance: ids may clash many times. */
  readonly #known = new Map<string, Map<string, Known[]>>()

  constructor(tools: ToolBox, maxInputChars: number, mintId: () => string) {
    this.#tools = tools
    this.#maxInputChars = maxInputChars
    this.#mintId = mintId
  }

  /** The call that this block already stands for: a provider may send the same block twice. */
  findSame(block: ToolUseBlock): ToolCall | undefined {
    const alike = this.#known.get(block.id)?.get(glance(block))
    return alike?.find(({ input }) => isSameInput(input, block.input))?.call
  }

  find(id: string): ToolCall | undefined {
    for (const alike of this.#known.get(id)?.values() ?? []) {
      const found = alike.find(({ call }) => call.id === id)
      if (found !== undefined) return found.call
    }
    return undefined
  }

  remember(block: ToolUseBlock, call: ToolCall): void {
    for (const id of new Set([block.id, call.id])) {
      if (id === '') continue
      const byGlance = this.#known.get(id) ?? new Map<string, Known[]>()
      this.#known.set(id, byGlance)
      const key = glance(block)
      const alike = byGlance.get(key)
      if (alike === undefined) byGlance.set(key, [{ input: block.input, call }])
      else alike.push({ input: block.input, call })
    }
  }

  /** A new id that no call of this turn has, whatever the host's `uuid` returns. */
  #mint(): string {
    const minted = this.#mintId()
    let id = minted
    for (let n = 2; this.#known.has(id); n++) id = `${minted}_${n}`
    return id
  }

  receive(block: ToolUseBlock, assistantMessage: AssistantMessage, { hold, error }: AddOptions): Arrival {
    const isClash = this.#known.has(block.id)
    const id = isClash || block.id === '' ? this.#mint() : block.id
    const tool = this.#tools.find(block.name)
    const answer = answerWithoutRun(isClash, block, tool, error)
    const runs = answer === undefined ? tool : undefined
    const reading = runs === undefined ? notRead : readInput(runs, block.input, this.#maxInputChars)
    const isSafe = runs !== undefined && reading.status === 'valid' && isConcurrencySafe(runs, reading.input)
    return {
      id,
      name: block.name,
      block: id === block.id ? block : { ...block, id },
      assistantMessage,
      tool,
      reading,
      answer,
      isSafe,
      yieldsToInterrupt: runs !== undefined && yieldsToInterrupt(runs),
      isHeld: runs !== undefined && (typeof hold === 'function' ? hold(isSafe) : hold) === true,
      hasChecks: hasOwn(runs, 'validateInput') || hasOwn(runs, 'normalizeInput'),
      hasPermissionCheck: hasOwn(runs, 'checkPermissions'),
    }
  }
}

/** Read here, not in a guard: a tool is the host's object, and reading it may throw. */
const hasOwn = (tool: AnyTool | undefined, key: string): boolean => readField(tool, key) !== undefined

/** The result of a call that cannot run. */
function answerWithoutRun(
  isClash: boolean,
  block: ToolUseBlock,
  tool: AnyTool | undefined,
  error: string | undefined,
): ResultText | undefined {
  if (isClash) return resultTexts.idClash(block.id)
  if (error !== undefined) return resultTexts.failed(error)
  return tool === undefined ? resultTexts.unknownTool(block.name) : undefined
}

/** What a look at name and upper fields shows, key order aside. Equal calls look equal; most others do not. */
function glance({ name, input }: ToolUseBlock): string {
  if (typeof input !== 'object' || input === null) return `${name} ${String(input).slice(0, 64)}`
  const keys = Object.keys(input).slice(0, 1_000).sort().slice(0, 20)
  return `${name} ${keys.map((key) => `${key}=${glimpse(readField(input, key))}`).join()}`
}

const glimpse = (value: unknown): string => (typeof value === 'object' ? '{}' : String(value).slice(0, 64))

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
