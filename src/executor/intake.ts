import { readField } from '../base/read-field.ts'
import type { CallPast } from '../journal/open-turn.ts'
import type { AssistantMessage, ToolUseBlock } from '../messages/message.ts'
import type { Arrival } from '../pipeline/call-facts.ts'
import { inputOf } from '../pipeline/call-facts.ts'
import { askForKeys } from '../pipeline/call-keys.ts'
import { isConcurrencySafe, isReadOnly, yieldsToInterrupt } from '../pipeline/classify-call.ts'
import { type InputReading, readInput } from '../pipeline/read-input.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolBox } from '../tool/tool-box.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import { isSameCall, Namesakes } from './namesakes.ts'

/** Options for adding a call. */
export interface AddOptions {
  /**
   * Keeps the call from starting until `release`: always, or as a function of whether the call is safe.
   * @default false
   */
  hold?: boolean | ((isSafe: boolean) => boolean) | undefined
  /** The call never runs, and this is its error result; for example, its arguments could not be parsed. */
  error?: string | undefined
  /** Called with the id of a new call before any part of it starts. */
  onID?: ((id: string) => void) | undefined
  /** The state of the call in the session's log, from an earlier process. */
  past?: CallPast | undefined
  /** How often the model has made this call in a row with an equal result, if that is too often. */
  repeats?: number | undefined
}

const notRead: InputReading = { status: 'invalid', problem: '' }

/** Normalizes the blocks that a model sends. Accepts anything and never throws. */
export class Intake {
  readonly #tools: ToolBox
  readonly #maxInputChars: number
  readonly #mintId: () => string
  readonly #isLogged: boolean
  readonly #account: Account | undefined
  /** Almost always one call per id. */
  readonly #known = new Map<string, ToolCall | Namesakes>()

  constructor(tools: ToolBox, maxInputChars: number, mintId: () => string, isLogged: boolean, account?: Account) {
    this.#account = account
    this.#isLogged = isLogged
    this.#tools = tools
    this.#maxInputChars = maxInputChars
    this.#mintId = mintId
  }

  /** The call of the same block, if it was added before: a provider may send a block twice. */
  findSame(block: ToolUseBlock): ToolCall | undefined {
    const known = this.#known.get(block.id)
    if (known instanceof Namesakes) return known.findSame(block)
    return known !== undefined && isSameCall(known, block) ? known : undefined
  }

  find(id: string): ToolCall | undefined {
    const known = this.#known.get(id)
    if (known instanceof Namesakes) return known.find(id)
    return known?.id === id ? known : undefined
  }

  remember(given: string, call: ToolCall): void {
    if (given !== '') this.#remember(given, call)
    if (call.id !== given) this.#remember(call.id, call)
  }

  #remember(id: string, call: ToolCall): void {
    const known = this.#known.get(id)
    if (known === undefined) this.#known.set(id, call)
    else if (known instanceof Namesakes) known.add(call)
    else {
      const namesakes = new Namesakes(known)
      namesakes.add(call)
      this.#known.set(id, namesakes)
    }
  }

  /** A new id that no call of this turn has, whatever the host's `uuid` returns. */
  #mint(): string {
    const minted = this.#mintId()
    let id = minted
    for (let n = 2; this.#known.has(id); n++) id = `${minted}_${n}`
    return id
  }

  receive(
    block: ToolUseBlock,
    assistantMessage: AssistantMessage,
    { hold, error, past, repeats }: AddOptions,
    ledger: { latest(): ToolUseContext },
  ): Arrival {
    const isClash = this.#known.has(block.id)
    const id = isClash || block.id === '' ? this.#mint() : block.id
    const tool = this.#tools.find(block.name)
    // the usage of a recovered turn is not recorded yet: its calls meet the limit in the same order as before
    const hasRoom = this.#account?.call(past?.started !== undefined, past?.isCounted) !== false
    const isRefused = !hasRoom && past?.completed === undefined
    const problem = isRefused ? resultTexts.limitReached() : error
    const answer = past?.started === undefined ? answerWithoutRun(isClash, block, tool, problem) : undefined
    // the result that the log has stays as it is: nothing of today's tool is asked
    const runs = answer === undefined && past?.completed === undefined ? tool : undefined
    const reading = runs === undefined ? notRead : readInput(runs, inputOf({ block, past }), this.#maxInputChars)
    const isSafe = runs !== undefined && reading.status === 'valid' && isConcurrencySafe(runs, reading.input)
    const keysContext = reading.status === 'valid' && hasOwn(runs, 'resources') ? ledger.latest() : undefined
    const keys =
      keysContext && runs && reading.status === 'valid' ? askForKeys(runs, reading.input, keysContext) : undefined
    return {
      id,
      name: block.name,
      block: id === block.id ? block : { ...block, id },
      assistantMessage,
      tool,
      reading,
      answer,
      isSafe,
      keys,
      keysContext,
      yieldsToInterrupt: runs !== undefined && yieldsToInterrupt(runs),
      isHeld: runs !== undefined && (typeof hold === 'function' ? hold(isSafe) : hold) === true,
      hasChecks: hasOwn(runs, 'validateInput') || hasOwn(runs, 'normalizeInput'),
      hasPermissionCheck: hasOwn(runs, 'checkPermissions') || hasOwn(runs, 'exactRule'),
      onlyReads: this.#isLogged && runs !== undefined && reading.status === 'valid' && isReadOnly(runs, reading.input),
      repeats: repeats !== undefined && readField(runs, 'mayRepeat') !== true ? repeats : undefined,
      past,
    }
  }
}

/** Read here and not in a guard, because reading a host's object may throw. */
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

/** Reads as much of the block as possible. A missing id or name becomes an empty string, which no tool has. */
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

/** Gives the block in the transcript the id of its result, because the API pairs them by id. */
export function renameInTranscript(given: unknown, id: string, assistantMessage: AssistantMessage): void {
  try {
    const content = assistantMessage.message.content
    const at = content.indexOf(given as ToolUseBlock)
    if (Object.isFrozen(given)) {
      if (at >= 0) content[at] = { ...(given as ToolUseBlock), id }
    } else (given as ToolUseBlock).id = id
  } catch {
    // a read-only transcript: the block that `addTool` returns has the id
  }
}
