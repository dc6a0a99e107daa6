import type { ExecutorOptions } from '../executor/options.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { Message, ToolUseBlock } from '../messages/message.ts'
import { allowAllTools, type CanUseTool } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { flush } from './flush.ts'
import { type HeldToolOptions, heldTool } from './held-tool.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'

/** The methods that a replacement for Signalbox's executor must have. */
export type ExecutorLike = Pick<
  StreamingToolExecutor,
  'addTool' | 'release' | 'getCompletedResults' | 'getRemainingResults' | 'abort' | 'discard'
>

export type MakeExecutor = (
  tools: readonly AnyTool[],
  canUseTool: CanUseTool,
  context: Partial<ToolUseContext>,
  options: ExecutorOptions,
) => ExecutorLike

/** One executor under test, with held tools and a simulated clock. */
export class ConformanceBench {
  readonly clock: SimulatedClock = simulatedClock()
  readonly host = new AbortController()
  readonly #make: MakeExecutor
  readonly #tools = new Map<string, ReturnType<typeof heldTool>>()
  readonly #reply = createAssistantMessage([])
  #executor: ExecutorLike | undefined
  canUseTool: CanUseTool = allowAllTools
  options: ExecutorOptions = {}

  constructor(make: MakeExecutor) {
    this.#make = make
  }

  tool(name: string, options: HeldToolOptions = {}): ReturnType<typeof heldTool> {
    const held = heldTool(name, options)
    this.#tools.set(name, held)
    return held
  }

  get executor(): ExecutorLike {
    const tools = [...this.#tools.values()].map(({ tool }) => tool)
    const context = { abortController: this.host }
    this.#executor ??= this.#make(tools, this.canUseTool, context, {
      clock: this.clock,
      abortGraceMs: 100,
      ...this.options,
    })
    return this.#executor
  }

  add(id: string, name: string, options: { hold?: boolean } = {}): ToolUseBlock {
    const block: ToolUseBlock = { type: 'tool_use', id, name, input: {} }
    this.#reply.message.content.push(block)
    return this.executor.addTool(block, this.#reply, options)
  }

  take(): string[] {
    return [...this.executor.getCompletedResults()].map(({ message }) => inWords(message))
  }

  /** All remaining messages. Stops after a limit if they do not end. */
  async rest(): Promise<string[]> {
    const words: string[] = []
    const read = async (): Promise<void> => {
      for await (const { message } of this.executor.getRemainingResults()) words.push(inWords(message))
      words.push('end')
    }
    void read()
    for (let n = 0; n < 10; n++) await flush()
    return words
  }
}

function inWords(message: Message): string {
  if (message.type === 'progress') return `${message.toolUseID} progress`
  if (message.type !== 'user' || typeof message.message.content === 'string') return message.type
  const [block] = message.message.content
  return `${String(block?.tool_use_id)} ${block?.is_error === true ? 'error' : 'ok'}`
}
