import { readField } from '../base/read-field.ts'
import type { ToolResultBlock, ToolResultMessage } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { charsOf, detached } from '../results/chars-of.ts'
import { type ResultStore, textOf, withPreview } from '../results/long-result.ts'
import { resultTexts } from '../results/result-texts.ts'

export interface UnreadLimits {
  readonly maxUnreadChars: number
  readonly resultStore: ResultStore | undefined
}

/** A preview is hardly shorter than this: storing the text would save nothing. */
const minStoredChars = 4_000

/** Most results are shorter, and are not worth the time to count them. */
const minCountedChars = 1_000

type Warn = (call: ToolCall, problem: string, error?: unknown) => void

/**
 * Keeps the results that nobody has read within a number of characters. Beyond it a result loses its raw data, and its
 * text goes to the store, if there is one. What the model sees is never lost.
 */
export class UnreadResults {
  readonly #limits: UnreadLimits
  readonly #warn: Warn
  /** Completed since the readers were last woken. */
  readonly #completed: ToolCall[] = []
  /** Created at first use: most results are short. */
  #sizes: Map<ToolCall, number> | undefined
  #chars = 0
  /** One text at a time: a store may be able to open only so many files. */
  #saving: Promise<void> = Promise.resolve()

  constructor(limits: UnreadLimits, warn: Warn) {
    this.#limits = limits
    this.#warn = warn
  }

  completed(call: ToolCall): void {
    if (this.#limits.maxUnreadChars !== Infinity && !isShortText(call)) this.#completed.push(call)
  }

  /** The readers have taken what they could: what is left has to be kept. */
  count(): void {
    if (this.#completed.length === 0) return
    for (const call of this.#completed) {
      if (call.stage === 'completed' && !isSmall(call)) this.#countOne(call)
    }
    this.#completed.length = 0
  }

  taken(call: ToolCall): void {
    if (this.#sizes !== undefined) this.#resize(call, 0)
  }

  clear(): void {
    this.#completed.length = 0
    this.#sizes = undefined
    this.#chars = 0
  }

  #countOne(call: ToolCall): void {
    this.#resize(call, sizeOf(call))
    const result = call.outgoing.unreadResult
    if (this.#chars <= this.#limits.maxUnreadChars || result === undefined) return
    const block = blockOf(result)
    const hasRaw = result.toolUseResult !== undefined && result.toolUseResult !== block.content
    if (hasRaw) this.#dropRaw(call, result, block)
    const { resultStore } = this.#limits
    if (resultStore !== undefined && textOf(block).length > minStoredChars) {
      this.#saving = this.#saving.then(() => this.#save(call, resultStore))
    } else if (hasRaw) this.#warn(call, `${tooMany}; its raw data (toolUseResult) was dropped`)
  }

  #dropRaw(call: ToolCall, result: ToolResultMessage, block: ToolResultBlock): void {
    dropRawData(call)
    this.#replace(call, { ...result, toolUseResult: undefined }, detachedBlock(block))
  }

  async #save(call: ToolCall, store: ResultStore): Promise<void> {
    const result = this.#sizes?.has(call) ? call.outgoing.unreadResult : undefined
    if (result === undefined) return
    const block = blockOf(result)
    try {
      const text = textOf(block)
      const path = readField(await store.save({ toolUseID: call.id, toolName: call.name, text }), 'path')
      if (typeof path !== 'string' || path === '') throw new TypeError('The store did not return a path')
      // read in the meantime, or discarded
      if (!this.#sizes?.has(call) || call.outgoing.unreadResult !== result) return
      dropRawData(call)
      const preview = withPreview(block, path, Infinity, resultTexts.storedUnread)
      this.#replace(call, { ...result, toolUseResult: undefined }, detachedBlock(preview))
      this.#warn(call, `${tooMany}; its text was stored in ${path} and its raw data (toolUseResult) was dropped`)
    } catch (error) {
      this.#warn(call, `${tooMany}; its text could not be stored and is kept`, error)
    }
  }

  #replace(call: ToolCall, result: ToolResultMessage, block: ToolResultBlock): void {
    call.outgoing.replaceResult({ ...result, message: { ...result.message, content: [block] } })
    this.#resize(call, sizeOf(call))
  }

  #resize(call: ToolCall, size: number): void {
    this.#sizes ??= new Map()
    this.#chars += size - (this.#sizes.get(call) ?? 0)
    if (size === 0) this.#sizes.delete(call)
    else this.#sizes.set(call, size)
  }
}

const tooMany = 'results that nobody has read exceed maxUnreadChars'

const blockOf = ({ message }: ToolResultMessage): ToolResultBlock => message.content[0] as ToolResultBlock

/** Most results. Asked inside an action, so nothing of the host is read. */
function isShortText({ outgoing }: ToolCall): boolean {
  const result = outgoing.unreadResult
  if (result === undefined || outgoing.besides.length > 0) return false
  const { content } = blockOf(result)
  return typeof content === 'string' && content.length < minCountedChars && result.toolUseResult === content
}

/** Told by its text, where that shows all of its raw data. */
function isSmall({ outgoing, tool }: ToolCall): boolean {
  const result = outgoing.unreadResult
  if (result === undefined) return true
  const { content } = blockOf(result)
  if (content.length >= minCountedChars || typeof content !== 'string' || outgoing.besides.length > 0) return false
  return tool?.mapResult === undefined || result.toolUseResult === content
}

/** Raw data that is the text itself is there only once. */
function sizeOf({ outgoing }: ToolCall): number {
  const result = outgoing.unreadResult
  if (result === undefined) return 0
  const { content } = blockOf(result)
  const raw = result.toolUseResult === content ? 0 : charsOf(result.toolUseResult)
  return raw + charsOf(content) + charsOf(outgoing.besides)
}

/** A text that was cut from a longer one would keep it alive. */
function detachedBlock(block: ToolResultBlock): ToolResultBlock {
  if (typeof block.content === 'string') return { ...block, content: detached(block.content) }
  const content = block.content.map((each) =>
    typeof each.text === 'string' ? { ...each, text: detached(each.text) } : each,
  )
  return { ...block, content }
}

/** Drops the raw data of an unread result. Its context modifier stays. */
function dropRawData(call: ToolCall): void {
  call.replacement = undefined
  if (call.bodyResult?.ok !== true) return
  const { contextModifier } = call.bodyResult.result
  call.bodyResult = { ok: true, result: { data: undefined, ...(contextModifier && { contextModifier }) } }
}
