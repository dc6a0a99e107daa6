import type { Frame } from '../../../src/inspect/index.ts'
import { forgetEnded } from '../../../src/inspect/run-model/forget-ended.ts'
import { pictureOf } from '../../../src/inspect/run-model/picture-of.ts'
import { copyModel, isSettled } from './copy-model.ts'
import { weightOf } from './frame-weight.ts'
import { type Call, emptyModel, type Model } from './model.ts'
import { applyFrame } from './reduce.ts'
import { SharedCharts } from './shared-charts.ts'

/** A longer way from one checkpoint to a moment would be felt. */
const checkpointGap = 5_000
/** A checkpoint costs as much as its unfinished runs have calls: those of a long run are further apart. */
const framesPerCall = 10
/** More frames would exhaust the browser's memory. */
const maxFrames = 1_000_000

export interface Window {
  readonly frames: number
  /** Of all texts in the frames together, in characters. */
  readonly characters: number
}

/** The limits of a live page. */
export const liveWindow: Window = { frames: 100_000, characters: 100_000_000 }

/**
 * The frames so far, the model after the last one, and the model at any earlier moment. With a window, only the newest
 * frames are kept. A position is the number of frames before it, those that are no longer kept included.
 */
export class History {
  readonly model: Model = emptyModel()
  readonly #window: Window | undefined
  readonly #charts = new SharedCharts()
  #frames: (Frame | undefined)[] = []
  /** Of each frame; only with a window. */
  #weights: number[] = []
  /** The position of the first entry of the list; entries before `start` are empty. */
  #origin = 0
  #start = 0
  #characters = 0
  /** The model before the first frame that is kept. */
  readonly #before: Model = emptyModel()
  /** The time of the first frame that ever came: times of a conversation count from it. */
  origin = 0
  /** How many frames come after one with a higher number: the recording is not in order. */
  misplaced = 0
  /** How many frames are not in the recording, by their numbers. Gaps that the recording itself names do not count. */
  missing = 0
  /** How many frames are earlier than one before them: the clock of the recording was set back. */
  setBack = 0
  readonly #checkpoints: { readonly position: number; readonly model: Model }[] = []
  #sought: { position: number; model: Model } | undefined

  constructor(window?: Window) {
    this.#window = window
  }

  /** The position after the newest frame. */
  get length(): number {
    return this.#origin + this.#frames.length
  }

  /** The position of the first frame that is kept: so many frames are gone. */
  get start(): number {
    return this.#start
  }

  /** The time of the first frame that is kept. */
  get startedAt(): number {
    return this.at(this.#start)?.at ?? 0
  }

  /** Only without a window. */
  get isFull(): boolean {
    return this.#window === undefined && this.#frames.length >= maxFrames
  }

  at(position: number): Frame | undefined {
    return this.#frames[position - this.#origin]
  }

  *from(position: number): Generator<Frame> {
    for (let at = Math.max(position, this.#start); at < this.length; at++) yield this.at(at) as Frame
  }

  /** The state before the kept frames, as frames. Empty if all frames are kept. */
  opening(): Frame[] {
    if (this.#start === 0) return []
    const [head, ...rest] = pictureOf(this.#before, ({ context }) => context)
    const { seq, at } = head as Frame
    return [head as Frame, { seq, at, run: 0, type: 'gap', because: 'trimmed', lost: this.#start }, ...rest]
  }

  push(given: Frame): void {
    if (this.isFull) return
    const last = this.at(this.length - 1)
    if (last === undefined) this.origin = given.at
    if (given.seq < this.model.seq) this.misplaced++
    else if (last !== undefined && last.type !== 'gap' && given.type !== 'gap')
      this.missing += Math.max(0, given.seq - this.model.seq - 1)
    if (given.at < this.model.at) this.setBack++
    const frame = this.#kept(given)
    this.#frames.push(frame)
    applyFrame(this.model, frame)
    this.#keepCheckpoint()
    if (this.#window === undefined) return
    const weight = weightOf(frame)
    this.#weights.push(weight)
    this.#characters += weight
    const { frames, characters } = this.#window
    while (this.length - this.#start > frames || (this.#characters > characters && this.length - this.#start > 1)) {
      this.#drop()
    }
  }

  /** Equal charts once. Moments are searched by their time, so it never goes back. */
  #kept(frame: Frame): Frame {
    const at = Math.max(frame.at, this.model.at)
    if (frame.type === 'chart') return { ...frame, at, chart: this.#charts.same(frame.chart) }
    return at === frame.at ? frame : { ...frame, at }
  }

  #drop(): void {
    const frame = this.at(this.#start) as Frame
    this.#frames[this.#start - this.#origin] = undefined
    this.#characters -= this.#weights[this.#start - this.#origin] as number
    this.#start++
    applyFrame(this.#before, frame)
    for (const model of [this.#before, this.model]) forgetEnded(model, frame, forgetDrawing)
    if (this.#sought !== undefined && this.#sought.position < this.#start) this.#sought = undefined
    // it holds runs that are gone
    if ((this.#checkpoints[0]?.position ?? this.#start) < this.#start) this.#checkpoints.shift()
    if (this.#start - this.#origin < Math.max(1_024, this.#frames.length / 2)) return
    this.#frames = this.#frames.slice(this.#start - this.#origin)
    this.#weights = this.#weights.slice(this.#start - this.#origin)
    this.#origin = this.#start
  }

  /** The model after this many frames. Moving forward continues from the last position, else from the nearest checkpoint. */
  modelAt(wanted: number): Model {
    const position = Math.max(wanted, this.#start)
    if (position >= this.length) return this.model
    let from = this.#sought
    if (from === undefined || from.position > position || position - from.position > checkpointGap) {
      const near = this.#checkpoints.findLast((each) => each.position <= position)
      from = near === undefined ? this.#beginning() : { ...near, model: copyModel(near.model) }
    }
    for (let at = from.position; at < position; at++) applyFrame(from.model, this.at(at) as Frame)
    this.#sought = { position, model: from.model }
    return from.model
  }

  #beginning(): { position: number; model: Model } {
    return { position: this.#start, model: this.#start === 0 ? emptyModel() : copyModel(this.#before) }
  }

  #keepCheckpoint(): void {
    const position = this.length
    const since = position - (this.#checkpoints.at(-1)?.position ?? 0)
    if (since < checkpointGap || position % 1_000 !== 0) return
    let unfinished = 0
    for (const run of this.model.runs.values()) if (!isSettled(run)) unfinished += run.calls.length
    if (since >= unfinished * framesPerCall) this.#checkpoints.push({ position, model: copyModel(this.model) })
  }

  /** The first position that includes this frame. */
  positionOf(seq: number): number {
    return this.#first((frame) => frame.seq >= seq) + 1
  }

  positionAt(time: number): number {
    return this.#first((frame) => frame.at > time)
  }

  #first(isPast: (frame: Frame) => boolean): number {
    let [low, high] = [this.#start, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isPast(this.at(middle) as Frame)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** The times of its phases are before the first moment that can be shown. */
function forgetDrawing(call: Call): void {
  call.segments.length = 0
  call.waited.length = 0
  call.progress = undefined
}
