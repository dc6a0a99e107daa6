import { randomUUID } from 'node:crypto'
import type { ExecutorOptions } from '../../executor/options.ts'
import { StreamingToolExecutor } from '../../executor/streaming-tool-executor.ts'
import { createAssistantMessage } from '../../messages/create-messages.ts'
import type { Message, ToolResultBlock } from '../../messages/message.ts'
import { describeCall } from '../../tool/describe-call.ts'
import type { CanUseTool } from '../../tool/permission.ts'
import type { AnyTool } from '../../tool/tool.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import { ServedCall } from './served-call.ts'
import { stoppableTool } from './stoppable-tool.ts'

export interface DeskOptions {
  readonly tools: readonly AnyTool[]
  readonly context: Partial<ToolUseContext>
  readonly executor: ExecutorOptions
  /** How long a question may stay without an answer. */
  readonly askMs: number
  /** Called for each executor, the first one included: an inspector wants to see them. */
  onExecutor(executor: StreamingToolExecutor): void
}

/** An executor remembers all its calls: a server that runs for weeks takes a fresh one now and then. */
const callsPerExecutor = 200
const defaultGraceMs = 5_000

/** Where the calls of all clients meet: one gate for all of them. */
export class ToolDesk {
  readonly tools: readonly AnyTool[]
  readonly #options: DeskOptions
  readonly #calls = new Map<string, ServedCall>()
  #context: Partial<ToolUseContext>
  #executor: StreamingToolExecutor
  #added = 0
  readonly #read = new WeakSet<StreamingToolExecutor>()

  constructor(options: DeskOptions) {
    const graceMs = options.executor.abortGraceMs ?? defaultGraceMs
    this.tools = options.tools.map((tool) => stoppableTool(tool, (id) => this.#calls.get(id)?.signal, graceMs))
    this.#options = options
    this.#context = options.context
    this.#executor = this.#newExecutor()
  }

  /** A call that is under way, for who knows its id. */
  find(id: string): ServedCall | undefined {
    return this.#calls.get(id)
  }

  start(name: string, input: unknown, onProgress: ServedCall['onProgress']): ServedCall {
    if (this.#added >= callsPerExecutor && this.#calls.size === 0) this.#executor = this.#newExecutor()
    this.#added++
    const call = new ServedCall(randomUUID())
    call.onProgress = onProgress
    this.#calls.set(call.id, call)
    this.#executor.addTool({ type: 'tool_use', id: call.id, name, input }, createAssistantMessage([]))
    void this.#readOn(this.#executor)
    return call
  }

  /** Stops what is under way. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    for (const call of this.#calls.values()) call.stop('closed')
    this.#executor.abort('closed')
    await this.#executor.whenIdle()
  }

  #newExecutor(): StreamingToolExecutor {
    const { executor: options, onExecutor } = this.#options
    const executor = new StreamingToolExecutor(this.tools, this.#canUseTool, this.#context, options)
    executor.on('settled', ({ toolUseID, messages }) => {
      // progress that nobody took yet comes first
      for (const { message } of executor.getCompletedResults()) this.#see(message)
      this.#settle(toolUseID, messages)
    })
    this.#added = 0
    onExecutor(executor)
    return executor
  }

  readonly #canUseTool: CanUseTool = async (tool, input, _context, _message, id, question) => {
    const call = this.#calls.get(id)
    if (call === undefined || call.signal.aborted) return { behavior: 'deny', message: 'Nobody waits for this call.' }
    const why = question?.message === undefined ? '' : `\n${question.message}`
    return call.ask({ message: `May ${describeCall(tool, tool.name, input)} run?${why}` }, this.#options.askMs)
  }

  /** Results are told ahead of their order; read they are all the same, so that calls come to their end. */
  async #readOn(executor: StreamingToolExecutor): Promise<void> {
    if (this.#read.has(executor)) return
    this.#read.add(executor)
    do {
      for await (const { message, newContext } of executor.getRemainingResults()) {
        this.#see(message)
        this.#context = { ...newContext, abortController: new AbortController() }
      }
    } while (this.#calls.size > 0 && executor === this.#executor)
    this.#read.delete(executor)
  }

  #see(message: Message): void {
    if (message.type === 'progress') this.#calls.get(message.parentToolUseID)?.onProgress?.(message.data)
  }

  #settle(id: string, messages: readonly Message[]): void {
    const [first] = messages
    const call = this.#calls.get(id)
    if (call === undefined || first?.type !== 'user') return
    this.#calls.delete(id)
    call.settle((first.message.content as ToolResultBlock[])[0] as ToolResultBlock)
  }
}
