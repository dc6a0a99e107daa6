import { invalidOption } from '../base/invalid-option.ts'
import { anIntegerFrom, checkOption } from '../base/option-rules.ts'
import { isSameInput } from '../base/same-input.ts'
import type { ContentBlock, Message } from '../messages/message.ts'

export interface LoopGuardOptions {
  /**
   * The call that is asked about: with 3, the third equal call in a row after two equal results.
   * @default 3
   */
  repeats?: number | undefined
}

export function checkLoopGuard(given: false | LoopGuardOptions | undefined): void {
  if (given === undefined || given === false) return
  if (typeof given !== 'object' || given === null) invalidOption('loopGuard', 'false or { repeats }', given)
  const { repeats = 3 } = given
  checkOption('loopGuard.repeats', repeats, anIntegerFrom(2))
}

interface SeenCall {
  readonly block: ContentBlock
  readonly result: ContentBlock
}

/** Knows which call was made last, and how often in a row with an equal input and an equal result. */
export class LoopGuard {
  readonly #repeats: number
  readonly #toolOf: (name: string) => string
  #last: SeenCall | undefined
  #count = 0

  /** @param toolOf the name of the tool that a name stands for: a model may use an alias */
  constructor(options: LoopGuardOptions | undefined, messages: readonly Message[], toolOf: (name: string) => string) {
    this.#repeats = options?.repeats ?? 3
    this.#toolOf = toolOf
    // a message of the user begins something new
    const from = messages.findLastIndex((message) => message.type === 'user' && !isResult(message))
    const recent = messages.slice(from + 1)
    this.note(recent, recent)
  }

  /** How often this call was made in a row, if that is too often. */
  timesOf(name: string, input: unknown): number | undefined {
    const { block } = this.#last ?? {}
    if (block === undefined || this.#count < this.#repeats - 1 || !this.#isSameTool(block.name, name)) return undefined
    return isSameInput(block.input, input) ? this.#count : undefined
  }

  /** A turn that is over. `isRefused`: the call did not run, because it would have been a repetition. */
  note(replies: readonly Message[], results: readonly Message[], isRefused: (id: unknown) => boolean = never): void {
    let last: SeenCall | undefined
    let count = 0
    // from the end, because the first difference decides
    for (let at = replies.length - 1; at >= 0; at--) {
      for (const block of blocksOf(replies[at] as Message).toReversed()) {
        if (block.type !== 'tool_use' || isRefused(block.id)) continue
        const result = resultOf(results, block.id)
        const seen = result && { block, result }
        if (seen === undefined || (last !== undefined && !this.#isSameCall(last, seen))) return this.#keep(last, count)
        last ??= seen
        if (++count >= this.#repeats) return this.#keep(last, count)
      }
    }
    if (last === undefined) return
    this.#keep(last, this.#last !== undefined && this.#isSameCall(this.#last, last) ? this.#count + count : count)
  }

  /** The user has said something: what follows is a new attempt. */
  reset(): void {
    this.#keep(undefined, 0)
  }

  #isSameCall(one: SeenCall, other: SeenCall): boolean {
    return (
      this.#isSameTool(one.block.name, other.block.name) &&
      isSameInput(one.block.input, other.block.input) &&
      one.result.is_error === other.result.is_error &&
      isSameInput(one.result.content, other.result.content)
    )
  }

  #isSameTool(one: unknown, other: unknown): boolean {
    return one === other || this.#toolOf(String(one)) === this.#toolOf(String(other))
  }

  #keep(last: SeenCall | undefined, count: number): void {
    this.#last = last
    this.#count = count
  }
}

const blocksOf = (message: Message): readonly ContentBlock[] => {
  if (message.type !== 'assistant' && message.type !== 'user') return []
  const { content } = message.message
  return typeof content === 'string' ? [] : content
}

/** Results are in the order of their calls, so that of a late call is found at once. */
function resultOf(results: readonly Message[], id: unknown): ContentBlock | undefined {
  for (let at = results.length - 1; at >= 0; at--) {
    const found = blocksOf(results[at] as Message).find(({ tool_use_id }) => tool_use_id === id)
    if (found !== undefined) return found
  }
  return undefined
}

const never = (): boolean => false

const isResult = (message: Message): boolean => blocksOf(message).some(({ type }) => type === 'tool_result')
