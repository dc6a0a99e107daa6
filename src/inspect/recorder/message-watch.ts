import type { TakenMessage } from '../../executor/events.ts'
import type { EncodeLimits } from '../frames/encode-value.ts'
import type { FrameBody } from '../frames/frame.ts'
import type { Show } from '../frames/redact.ts'
import type { CallFrames } from './call-frames.ts'
import { resultFrame } from './outcome-frames.ts'
import { ProgressWatch } from './progress-watch.ts'

const maxResultText = 200_000
/** Of all results of a run together. Later results are truncated like other values. */
const maxResultTexts = 20_000_000

export interface MessageWatchOptions {
  readonly limits: EncodeLimits
  readonly now: () => number
  readonly progressGapMs: number
}

/** Shows the messages of calls as a reader takes them: progress, and the results that the model gets. */
export class MessageWatch {
  readonly #write: (body: FrameBody) => void
  readonly #calls: CallFrames
  readonly #show: Show
  /** As long as the run has not become too large. */
  readonly #showWhole: Show
  readonly #progress: ProgressWatch
  #resultTexts = 0

  constructor(
    write: (body: FrameBody) => void,
    calls: CallFrames,
    showUpTo: (most: EncodeLimits) => Show,
    { limits, now, progressGapMs }: MessageWatchOptions,
  ) {
    this.#write = write
    this.#calls = calls
    this.#show = showUpTo(limits)
    this.#showWhole = showUpTo({ ...limits, text: limits.resultText ?? limits.text ?? maxResultText })
    this.#progress = new ProgressWatch(write, this.#show, now, progressGapMs)
  }

  see({ message, toolUseID }: TakenMessage): void {
    const where = this.#calls.whereabouts(toolUseID)
    if (message.type === 'progress') return this.#progress.see(toolUseID, message.data, where)
    this.#progress.flush(toolUseID, where)
    const show = this.#resultTexts < maxResultTexts ? this.#showWhole : this.#show
    const frame = resultFrame(show, toolUseID, message, where)
    if (typeof frame.content === 'string') this.#resultTexts += frame.content.length
    this.#write(frame)
  }
}
