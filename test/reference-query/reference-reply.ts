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
  readonly #open = new Map<number, OpenBlock>()

  /** Unfinished text, which the user has seen. */
  get partial(): string[] {
    return [...this.#open.values()].flatMap(({ text, isThinking }) => (text === undefined || isThinking ? [] : [text]))
  }

  /** Another reply in the same stream; open blocks do not continue. */
  begin(id: string): void {
    this.id = id
    this.stopReason = undefined
    this.#open.clear()
  }

  openBlock(entry: Extract<Entry, { is: 'opens text' | 'opens call' }>): void {
    this.#open.set(entry.index, entry)
  }

  closeBlock(index: number): OpenBlock | undefined {
    const block = this.#open.get(index)
    this.#open.delete(index)
    return block
  }

  get isWhole(): boolean {
    return this.stopReason !== undefined && this.stopReason !== 'max_tokens' && this.stopReason !== 'refusal'
  }
}
