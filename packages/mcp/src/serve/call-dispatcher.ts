import { randomUUID } from 'node:crypto'
import {
  type AnyTool,
  type CanUseTool,
  createAssistantMessage,
  type ExecutorOptions,
  type Message,
  type PermissionQuestion,
  StreamingToolExecutor,
  showInputText,
  type ToolResultBlock,
  type ToolUseContext,
  visibleLine,
} from 'signalbox'
import { ServedCall } from './served-call.ts'
import { stoppableTool } from './stoppable-tool.ts'

export interface DispatcherOptions {
  readonly tools: readonly AnyTool[]
  readonly context: Partial<ToolUseContext>
  readonly executor: ExecutorOptions
  /** Timeout for a permission prompt. */
  readonly askMs: number
  /** Called for each executor, including the first, for inspectors. */
  onExecutor(executor: StreamingToolExecutor): void
}

/** An executor keeps all its calls in memory: a long-running server replaces it now and then. */
const callsPerExecutor = 200
const defaultGraceMs = 5_000

/** Runs the calls of all clients through one executor. */
export class CallDispatcher {
  readonly tools: readonly AnyTool[]
  readonly #options: DispatcherOptions
  readonly #calls = new Map<string, ServedCall>()
  #context: Partial<ToolUseContext>
  #executor: StreamingToolExecutor
  #added = 0
  readonly #read = new WeakSet<StreamingToolExecutor>()

  constructor(options: DispatcherOptions) {
    const graceMs = options.executor.abortGraceMs ?? defaultGraceMs
    this.tools = options.tools.map((tool) => stoppableTool(tool, (id) => this.#calls.get(id)?.signal, graceMs))
    this.#options = options
    this.#context = options.context
    this.#executor = this.#newExecutor()
  }

  /** A running call, by id. */
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

  /** Stops all running calls. Resolves when nothing runs. */
  async close(): Promise<void> {
    for (const call of this.#calls.values()) call.stop('closed')
    this.#executor.abort('closed')
    await this.#executor.whenIdle()
  }

  #newExecutor(): StreamingToolExecutor {
    const { executor: options, onExecutor } = this.#options
    const executor = new StreamingToolExecutor(this.tools, this.#canUseTool, this.#context, options)
    executor.on('completed', ({ toolUseID, messages }) => {
      // pending progress is delivered first
      for (const { message } of executor.getCompletedResults()) this.#see(message)
      this.#settle(toolUseID, messages)
    })
    this.#added = 0
    onExecutor(executor)
    return executor
  }

  readonly #canUseTool: CanUseTool = async (tool, input, _context, _message, id, question) => {
    const call = this.#calls.get(id)
    if (call === undefined || call.signal.aborted)
      return { behavior: 'deny', message: 'The client no longer waits for this call.' }
    const message = [`May ${visibleLine(tool.name)} run?`, ...reasonLines(question), showInputText(input)].join('\n')
    return call.ask({ message }, this.#options.askMs)
  }

  /** Results are delivered early, out of order; the stream is still drained, so that the calls finish. */
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

/** A field of its own, so that a reason cannot pass for a part of the input. */
function reasonLines(question: PermissionQuestion | undefined): string[] {
  if (question?.message === undefined) return []
  return ['asked because:', ...question.message.split('\n').map((line) => `│ ${visibleLine(line)}`)]
}
