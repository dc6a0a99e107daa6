import type { FrameBody } from '../frames/frame.ts'
import type { Show, Where } from '../frames/redact.ts'

interface Seen {
  count: number
  shownAt: number
  newest: unknown
  isShown: boolean
}

/** Throttles progress: a tool may report a hundred thousand times. Frames hold a few per second and the count. */
export class ProgressWatch {
  readonly #write: (body: FrameBody) => void
  readonly #show: Show
  readonly #now: () => number
  readonly #minGapMs: number
  readonly #byCall = new Map<string, Seen>()

  constructor(write: (body: FrameBody) => void, show: Show, now: () => number, minGapMs: number) {
    this.#write = write
    this.#show = show
    this.#now = now
    this.#minGapMs = minGapMs
  }

  see(call: string, data: unknown, where: Omit<Where, 'what'>): void {
    const seen = this.#byCall.get(call) ?? { count: 0, shownAt: -Infinity, newest: undefined, isShown: true }
    this.#byCall.set(call, seen)
    seen.count++
    seen.newest = data
    seen.isShown = false
    if (this.#now() - seen.shownAt >= this.#minGapMs) this.flush(call, where)
  }

  /** Emits the newest withheld report before the frame that follows it. */
  flush(call: string, where: Omit<Where, 'what'>): void {
    const seen = this.#byCall.get(call)
    if (seen === undefined || seen.isShown) return
    seen.isShown = true
    seen.shownAt = this.#now()
    this.#write({
      type: 'progress',
      call,
      count: seen.count,
      data: this.#show(seen.newest, { what: 'progress', ...where }),
    })
    seen.newest = undefined
  }
}
