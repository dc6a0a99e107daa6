import { allowAllTools, createAssistantMessage, type Message, StreamingToolExecutor } from '../../src/index.ts'
import { type StreamPart, scriptedReply, tools } from './script.ts'
import type { Scene } from './view.ts'

/** One turn: a scripted model speaks, its calls go to the executor as their blocks end, results come as they are ready. */
export class LiveTurn {
  readonly executor = new StreamingToolExecutor(tools, allowAllTools)
  readonly #results = new Map<string, { text: string; isError: boolean }>()
  readonly #progress = new Map<string, number>()
  readonly #inputs = new Map<string, unknown>()
  readonly #onChange: () => void
  readonly #speed: number
  #said = ''
  #isSilent = false
  #isOver = false
  #isCut = false

  constructor(onChange: () => void, speed = 1) {
    // one picture for all that happens at once
    let isDue = false
    this.#onChange = () => {
      if (isDue) return
      isDue = true
      queueMicrotask(() => {
        isDue = false
        onChange()
      })
    }
    this.#speed = speed
    this.executor.actor.subscribe(this.#onChange)
  }

  async run(): Promise<void> {
    const message = createAssistantMessage([])
    for (const part of scriptedReply()) {
      await new Promise((resolve) => setTimeout(resolve, part.afterMs / this.#speed))
      if (this.#isCut) break
      this.#hear(part, message)
      for (const update of this.executor.getCompletedResults()) this.#show(update.message)
      this.#onChange()
    }
    this.#isSilent = true
    for await (const update of this.executor.getRemainingResults()) {
      this.#show(update.message)
      this.#onChange()
    }
    this.#isOver = true
    this.#onChange()
  }

  /** The model falls silent; what the executor has is seen to its end. */
  abort(reason: string): void {
    if (this.#isOver) return
    this.#isCut = reason !== 'interrupt'
    this.executor.abort(reason)
  }

  discard(): void {
    if (this.#isOver) return
    this.#isCut = true
    this.executor.discard()
  }

  get scene(): Scene {
    const { value, context } = this.executor.actor.getSnapshot()
    const { gate, run } = value as { gate: string; run: string }
    return {
      run: context.run,
      gate,
      state: run,
      said: this.#said,
      results: this.#results,
      progress: this.#progress,
      inputs: this.#inputs,
      isSilent: this.#isSilent,
      isOver: this.#isOver,
    }
  }

  #hear({ text, block }: StreamPart, message: ReturnType<typeof createAssistantMessage>): void {
    if (text !== undefined) {
      this.#said = text
      message.message.content.push({ type: 'text', text })
    }
    if (block === undefined) return
    const input = block.input as { file_path: string; ms: number }
    const scaled = { ...block, input: { ...input, ms: input.ms / this.#speed } }
    this.#inputs.set(block.id, input)
    message.message.content.push(scaled)
    this.executor.addTool(scaled, message)
  }

  #show(message: Message): void {
    if (message.type === 'progress') this.#progress.set(message.toolUseID, Number(message.data))
    if (message.type !== 'user' || typeof message.message.content === 'string') return
    for (const { tool_use_id, content, is_error } of message.message.content) {
      this.#results.set(String(tool_use_id), { text: String(content), isError: is_error === true })
    }
  }
}
