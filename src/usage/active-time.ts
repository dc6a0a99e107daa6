import { nextDue } from '../../machines/index.ts'
import { type Clock, clearTimer } from '../base/clock.ts'

interface Listener {
  near(): void
  over(): void
}

/** The longest delay that timers support. */
const maxDelay = 2 ** 31 - 1

/** The time in which something is under way, however many things at once, and an alarm when it is used up. */
export class ActiveTime {
  readonly #maxMs: number
  readonly #clock: Clock
  readonly #now: () => number
  readonly #listener: Listener
  #ms = 0
  #recordedMs = 0
  #count = 0
  #since = 0
  #timer: unknown
  #isNear = false

  constructor(maxMs: number, clock: Clock, now: () => number, listener: Listener) {
    this.#maxMs = maxMs
    this.#clock = clock
    this.#now = now
    this.#listener = listener
  }

  get ms(): number {
    return this.#count === 0 ? this.#ms : this.#ms + this.#elapsed
  }

  restore(ms: number): void {
    this.#ms += ms
    this.#recordedMs += ms
  }

  begin(): void {
    if (this.#count++ > 0) return
    this.#since = this.#now()
    this.#setAlarm()
  }

  end(): void {
    if (this.#count === 0 || --this.#count > 0) return
    this.#ms += this.#elapsed
    clearTimer(this.#clock, this.#timer)
    this.#timer = undefined
  }

  /** What has been added since it was last asked. */
  takeUnrecorded(): number {
    const ms = this.ms - this.#recordedMs
    this.#recordedMs += ms
    return ms
  }

  /** A clock that jumps back takes nothing away. */
  get #elapsed(): number {
    return Math.max(0, this.#now() - this.#since)
  }

  #setAlarm(): void {
    const due = nextDue(this.ms, this.#maxMs, this.#isNear)
    // infinity means no limit
    if (!(due <= maxDelay)) return
    this.#timer = this.#clock.setTimeout(() => this.#ring(due), due)
  }

  /** The timer counts, whatever the clock says: it may have jumped back, or have no time. */
  #ring(due: number): void {
    this.#ms += Math.max(this.#elapsed, due)
    this.#since = this.#now()
    this.#timer = undefined
    if (!this.#isNear) this.#listener.near()
    this.#isNear = true
    if (this.#ms >= this.#maxMs) this.#listener.over()
    else this.#setAlarm()
  }
}
