import type { Frame } from '../index.ts'

/** How much is kept for late or slow readers. A reader that is further behind restarts from the current picture. */
const defaultMaxBytes = 64_000_000
const maxBatchFrames = 2_000
const maxBatchBytes = 256_000

export interface Batch {
  readonly frames: readonly string[]
  /** The reader's position after this batch. */
  readonly position: number
}

/** The frames so far, each serialized once, for any number of readers with their own positions. */
export class FrameHistory {
  readonly #picture: () => readonly Frame[]
  readonly #maxBytes: number
  #lines: string[] = []
  /** The size of the newer half. */
  #bytes = 0
  /** The position of the first line that is kept. */
  #base = 0
  #opening: readonly string[] = []
  /** The new beginning of the history, once the next half is full. */
  #next: { readonly position: number; readonly opening: readonly string[] } | undefined

  constructor(picture: () => readonly Frame[], maxBytes = defaultMaxBytes) {
    this.#picture = picture
    this.#maxBytes = maxBytes
  }

  get end(): number {
    return this.#base + this.#lines.length
  }

  /** Whether `trim` would drop something or prepare it. */
  get isFull(): boolean {
    return this.#bytes > this.#maxBytes / 2
  }

  push(frame: Frame): void {
    const line = JSON.stringify(frame)
    this.#lines.push(line)
    this.#bytes += line.length
  }

  /**
   * Drops the older half when the history is full; readers that keep up are not affected. Not in `push`, which runs in the
   * middle of a step: a picture must be taken between steps.
   */
  trim(): void {
    if (!this.isFull) return
    if (this.#next !== undefined) {
      this.#lines = this.#lines.slice(this.#next.position - this.#base)
      this.#base = this.#next.position
      this.#opening = this.#next.opening
    }
    this.#bytes = 0
    this.#next = { position: this.end, opening: this.#picture().map((frame) => JSON.stringify(frame)) }
  }

  /** The frames after a position. Undefined at the end. */
  after(position: number): Batch | undefined {
    if (position < this.#base) return this.#afterGap(position)
    if (position >= this.end) return undefined
    const from = position - this.#base
    let to = from
    for (let bytes = 0; to < this.#lines.length && to - from < maxBatchFrames && bytes < maxBatchBytes; to++) {
      bytes += (this.#lines[to] as string).length
    }
    return { frames: this.#lines.slice(from, to), position: this.#base + to }
  }

  #afterGap(position: number): Batch {
    const [head = '', ...rest] = this.#opening
    const isNew = position === 0
    const { seq, at } = JSON.parse(head) as Frame
    const gap: Frame = {
      seq,
      at,
      run: 0,
      type: 'gap',
      because: isNew ? 'trimmed' : 'slow',
      lost: this.#base - position,
    }
    return { frames: [...(isNew ? [head] : []), JSON.stringify(gap), ...rest], position: this.#base }
  }
}
