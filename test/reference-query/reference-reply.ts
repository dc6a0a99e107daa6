import type { Entry, SentCall } from './entry.ts'

interface OpenBlock {
  readonly text?: string
  readonly isThinking?: boolean
  readonly call?: SentCall
}

/** The state of one stream, block by block. */
export class ReferenceReply {
  id: string | undefined
  stopReason: string | undefined
  /** The service has answered. */
  hasBegun = false
  readonly #open = new Map<number, OpenBlock & { readonly order: number }>()
  #begun = 0

  /** Unfinished text, which the user has seen. */
  get partial(): { readonly text: string; readonly order: number }[] {
    return [...this.#open.values()].flatMap(({ text, isThinking, order }) =>
      text === undefined || isThinking ? [] : [{ text, order }],
    )
  }

  /** Another reply in the same stream; open blocks do not continue. */
  begin(id: string): void {
    this.id = id
    this.stopReason = undefined
    this.#open.clear()
  }

  openBlock(entry: Extract<Entry, { is: 'opens text' | 'opens call' }>): void {
    this.hasBegun = true
    this.#open.set(entry.index, { ...entry, order: this.#begun++ })
  }

  closeBlock(index: number): (OpenBlock & { readonly order: number }) | undefined {
    const block = this.#open.get(index)
    this.#open.delete(index)
    return block
  }

  get isWhole(): boolean {
    return this.stopReason !== undefined && this.stopReason !== 'max_tokens' && this.stopReason !== 'refusal'
  }
}
