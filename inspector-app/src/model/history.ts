import type { Frame } from '../../../src/inspect/index.ts'
import { emptyModel, type Model } from './model.ts'
import { applyFrame } from './reduce.ts'

const checkpointGap = 5_000
/** More frames would exhaust the browser's memory. */
const maxFrames = 1_000_000

/** All frames so far, the model after the last one, and the model at any earlier moment. */
export class History {
  readonly frames: Frame[] = []
  readonly model: Model = emptyModel()
  readonly #checkpoints: { readonly position: number; readonly model: Model }[] = []
  #sought: { position: number; model: Model } | undefined

  get length(): number {
    return this.frames.length
  }

  get isFull(): boolean {
    return this.frames.length >= maxFrames
  }

  push(frame: Frame): void {
    if (this.isFull) return
    this.frames.push(frame)
    applyFrame(this.model, frame)
  }

  /** The model after this many frames. Moving forward continues from the last position, else from the nearest checkpoint. */
  modelAt(position: number): Model {
    if (position >= this.frames.length) return this.model
    let from = this.#sought
    if (from === undefined || from.position > position || position - from.position > checkpointGap) {
      const near = this.#checkpoints.findLast((checkpoint) => checkpoint.position <= position)
      from = near === undefined ? { position: 0, model: emptyModel() } : { ...near, model: copyOf(near.model) }
    }
    for (let at = from.position; at < position; at++) {
      applyFrame(from.model, this.frames[at] as Frame)
      this.#keepCheckpoint(at + 1, from.model)
    }
    this.#sought = { position, model: from.model }
    return from.model
  }

  /** Created on the first seek, since most runs are only watched forwards. */
  #keepCheckpoint(position: number, model: Model): void {
    if (position % checkpointGap !== 0 || position <= (this.#checkpoints.at(-1)?.position ?? 0)) return
    this.#checkpoints.push({ position, model: copyOf(model) })
  }

  /** The first position that includes this frame. */
  positionOf(seq: number): number {
    let [low, high] = [0, this.frames.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.frames[middle] as Frame).seq < seq) low = middle + 1
      else high = middle
    }
    return low + 1
  }

  positionAt(time: number): number {
    let [low, high] = [0, this.frames.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.frames[middle] as Frame).at <= time) low = middle + 1
      else high = middle
    }
    return low
  }
}

const copyOf = (model: Model): Model => structuredClone(model)
