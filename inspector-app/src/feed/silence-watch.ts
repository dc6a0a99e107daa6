import { type Clock, platformClock } from '../../../src/base/clock.ts'

/** The server sends something every two seconds: two beats are missing. */
const silentMs = 5_000
/** A connection whose other side is gone without a word never closes by itself. */
const givenUpMs = 30_000
/** How often a silence is reported. */
const stepMs = 1_000

interface SilenceEvents {
  onSilent(seconds: number): void
  onGivenUp(): void
}

/** Notices that nothing arrives any more, and gives up after a while. */
export class SilenceWatch {
  readonly #events: SilenceEvents
  readonly #clock: Clock & { now(): number }
  #heardAt = 0
  #timer: unknown

  constructor(events: SilenceEvents, clock: Clock & { now(): number } = pageClock) {
    this.#events = events
    this.#clock = clock
  }

  /** Begins anew. */
  heard(): void {
    this.#heardAt = this.#clock.now()
    // a timer per message would cost more than the message
    this.#timer ??= this.#lookIn(silentMs)
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #lookIn(ms: number): unknown {
    const due = this.#clock.now() + ms
    return this.#clock.setTimeout(() => {
      this.#timer = undefined
      // the page itself was asleep, so it does not know: what arrived meanwhile is still to be read
      if (this.#clock.now() - due > stepMs) this.heard()
      else this.#look()
    }, ms)
  }

  #look(): void {
    const silence = this.#clock.now() - this.#heardAt
    if (silence >= givenUpMs) return this.#events.onGivenUp()
    if (silence >= silentMs) this.#events.onSilent(Math.floor(silence / 1_000))
    this.#timer = this.#lookIn(silence < silentMs ? silentMs - silence : stepMs)
  }
}

const pageClock = { ...platformClock, now: () => performance.now() }
