import type { MessageUpdate } from '../executor/delivery.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { DiscardedCall } from '../executor/turn.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { AssistantMessage, ContentBlock, Message, ToolUseBlock } from '../messages/message.ts'
import { sendableName } from '../messages/sendable-name.ts'
import type { Stamps } from '../messages/stamps.ts'
import type { StopReason } from '../model/model.ts'
import { copyInput } from '../pipeline/copy-input.ts'
import { resultTexts } from '../results/result-texts.ts'
import { isRecord } from '../text/is-record.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ReplyPart } from './reply-assembler.ts'

export interface AttemptHost {
  readonly stamps: Stamps
  /** All calls wait for the end of the reply. */
  readonly isBatch: boolean
  findTool(name: string): AnyTool | undefined
  /** Ids that calls of earlier turns have. */
  isTaken(id: string): boolean
  /** A reply of an earlier turn has this id. */
  isOldReply(id: string): boolean
  emit(message: Message): void
  took(update: MessageUpdate): Promise<void> | undefined
  drained(attempt: Attempt): void
}

type StartWhen = NonNullable<AnyTool['startWhen']>

/** Stop reasons of a reply that was cut off: its last calls may not be what the model meant. */
const cutReasons = new Set<StopReason>(['max_tokens', 'refusal', 'model_context_window_exceeded'])

/** One attempt at one reply: what the model said, the calls it asked for, and their results. */
export class Attempt {
  readonly executor: StreamingToolExecutor
  readonly assistants: AssistantMessage[] = []
  readonly results: Message[] = []
  stopReason: StopReason | undefined
  isHookStopped = false
  readonly #host: AttemptHost
  readonly #calls = new Set<string>()
  readonly #renamed = new Map<string, string>()
  readonly #held = new Map<string, StartWhen>()
  /** Made up, until the service says: all parts of a reply share one id. */
  reply: { readonly id: string; readonly model?: string }
  isStarted = false
  #isPumping = false
  #isWanted = false
  #isDraining = false
  #isDiscarded = false

  constructor(host: AttemptHost, executor: StreamingToolExecutor) {
    this.#host = host
    this.executor = executor
    this.reply = { id: `msg_${host.stamps.uuid()}` }
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0
  }

  /** The model got to the end of what it wanted to say. */
  get isWhole(): boolean {
    return this.stopReason !== undefined && !cutReasons.has(this.stopReason)
  }

  take(part: ReplyPart): void {
    if (part.type === 'started') this.#begin(part.id, part.model)
    else if (part.type === 'movedOn') this.#release('movedOn')
    else if (part.type === 'stopped') {
      this.stopReason = part.stopReason
      if (this.isWhole) this.#release('movedOn')
    } else if (part.type === 'block') this.#takeBlock(part.block, part.problem)
  }

  /** The reply is over. What is still held may start now, or never will. */
  close(isWhole: boolean, partial: readonly ContentBlock[]): void {
    for (const block of partial) this.#say(block)
    if (isWhole) return this.#release('movedOn', 'turnEnded')
    for (const id of this.#held.keys()) this.executor.withdraw(id, cutText(this.stopReason))
    this.#held.clear()
  }

  drain(): void {
    this.#isDraining = true
    this.#checkDrained()
  }

  /** Nothing of it counts. Says which messages have to go, and what had run. */
  discard(): { discarded: string[]; calls: DiscardedCall[] } {
    this.#isDiscarded = true
    const calls = this.executor.discard()
    return { discarded: [...this.assistants, ...this.results].map(({ uuid }) => uuid), calls }
  }

  /** Some services give every reply the same id; by it, parts of one reply are told from another reply. */
  #begin(id: string, model: string | undefined): void {
    this.isStarted = true
    const own = id === '' || this.assistants.length > 0 || this.#host.isOldReply(id) ? this.reply.id : id
    this.reply = { id: own, ...(model !== undefined && { model }) }
  }

  #takeBlock(block: ContentBlock, problem: string | undefined): void {
    if (block.type === 'tool_use') return this.#announce(block as ToolUseBlock, problem)
    // the API refuses text that is empty
    if (block.type === 'text' && (typeof block.text !== 'string' || block.text === '')) return
    this.#say(block)
  }

  #say(block: ContentBlock): void {
    const message = this.#messageOf(block)
    this.assistants.push(message)
    this.#host.emit(message)
  }

  /** A call enters the executor when its block ends, and starts as soon as its tool wants it to. */
  #announce(block: ToolUseBlock, problem: string | undefined): void {
    const shown = { ...block, name: sendableName(block.name), input: sendableInput(block.input) }
    const message = this.#messageOf(shown)
    const tool = this.#host.findTool(block.name)
    let startWhen: StartWhen = 'closed'
    const given = this.#host.isTaken(block.id) ? { ...block, id: this.#renamed.get(block.id) ?? '' } : block
    const { id } = this.executor.addTool({ ...given }, message, {
      hold: (isSafe) => {
        startWhen = this.#host.isBatch ? 'turnEnded' : (tool?.startWhen ?? (isSafe ? 'closed' : 'movedOn'))
        return startWhen !== 'closed'
      },
      error: problem && resultTexts.unreadableArguments(problem).toolUseResult,
    })
    if (given.id === '') this.#renamed.set(block.id, id)
    // a provider may send the same block twice; it is one call
    if (this.#calls.has(id)) return
    shown.id = id
    this.#calls.add(id)
    if (startWhen !== 'closed') this.#held.set(id, startWhen)
    this.assistants.push(message)
    this.#host.emit(message)
    void this.#pump()
  }

  #release(...moments: StartWhen[]): void {
    for (const [id, startWhen] of this.#held) {
      if (!moments.includes(startWhen)) continue
      this.#held.delete(id)
      this.executor.release(id)
    }
  }

  /** Hands on what becomes ready, during the stream and after it. */
  async #pump(): Promise<void> {
    this.#isWanted = true
    if (this.#isPumping) return
    this.#isPumping = true
    // a call may come in just as the last reader has heard that there is nothing more
    while (this.#isWanted) {
      this.#isWanted = false
      for await (const update of this.executor.getRemainingResults()) {
        if (this.#isDiscarded) return
        this.#note(update.message)
        // a wait for nothing is still one
        const pause = this.#host.took(update)
        if (pause !== undefined) await pause
      }
    }
    this.#isPumping = false
    this.#checkDrained()
  }

  #note(message: Message): void {
    if (message.type === 'attachment' && message.attachment.type === 'hook_stopped_continuation') {
      this.isHookStopped = true
    }
    if (message.type !== 'progress' && message.type !== 'system') this.results.push(message)
  }

  #checkDrained(): void {
    if (!this.#isDraining || this.#isPumping || this.#isDiscarded) return
    this.#isDraining = false
    this.#host.drained(this)
  }

  #messageOf(block: ContentBlock): AssistantMessage {
    return createAssistantMessage([block], this.reply, this.#host.stamps)
  }
}

/** The API wants an object there, and a request is put into words: of what a model sends neither is certain. */
function sendableInput(input: unknown): Record<string, unknown> {
  try {
    const copied = copyInput(input, Number.POSITIVE_INFINITY)
    return copied.ok && isRecord(copied.copy) ? copied.copy : {}
  } catch {
    return {}
  }
}

const cutText = (stopReason: StopReason | undefined): string =>
  `the reply that asked for it was cut off${stopReason === undefined ? '' : ` (${stopReason})`}. If it is still needed, ask again.`
