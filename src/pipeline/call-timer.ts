import type { TimeoutCause } from '../../machines/index.ts'
import { type Clock, clearTimer } from '../base/clock.ts'
import type { Timeout } from '../tool/tool.ts'

/** The timers of one call's body: total, since the last progress, between attempts, and the grace period. */
export class CallTimer {
  readonly #clock: Clock
  /** A body that goes on in the background reports to another chart. */
  onTimeout: (cause: TimeoutCause) => void
  #idleMs: number | undefined
  #total: unknown
  #idle: unknown
  /** For the grace period or the backoff. */
  #wait: unknown
  /** Until the body goes to the background. */
  #detach: unknown
  #isDetachDue = false

  constructor(clock: Clock, onTimeout: (cause: TimeoutCause) => void) {
    this.#clock = clock
    this.onTimeout = onTimeout
  }

  /** The body starts: for the first time, or again within the same total. */
  start(timeout: Timeout | undefined): void {
    const { totalMs, idleMs } = typeof timeout === 'number' ? { totalMs: timeout } : (timeout ?? {})
    this.#idleMs = limitOf(idleMs)
    this.#total ??= this.#start('total', limitOf(totalMs))
    this.#idle = this.#start('idle', this.#idleMs)
  }

  /** Restarts the idle timeout after progress. */
  extend(): void {
    if (this.#idle === undefined) return
    clearTimer(this.#clock, this.#idle)
    this.#idle = this.#start('idle', this.#idleMs)
  }

  /** The time runs on between attempts; a call that is then over it goes to the background when its body runs again. */
  startDetach(ms: number, onDue: () => void): void {
    if (this.#isDetachDue) this.#detach = this.#clock.setTimeout(onDue, 0)
    this.#detach ??= this.#clock.setTimeout(() => {
      this.#isDetachDue = true
      onDue()
    }, ms)
  }

  /** The body is in the background: only its own limits count. */
  endDetach(): void {
    clearTimer(this.#clock, this.#detach)
    this.#detach = undefined
  }

  /** Between two attempts only the total counts. */
  startBackoff(ms: number, onEnd: () => void): void {
    clearTimer(this.#clock, this.#idle)
    this.#idle = undefined
    this.#wait = this.#clock.setTimeout(onEnd, ms)
  }

  /** After the call was told to stop, only the grace period counts. */
  startGrace(ms: number, onEnd: () => void): void {
    this.clear()
    this.#wait = this.#clock.setTimeout(onEnd, ms)
  }

  clear(): void {
    for (const timer of [this.#total, this.#idle, this.#wait, this.#detach]) clearTimer(this.#clock, timer)
    this.#total = undefined
    this.#idle = undefined
    this.#wait = undefined
    this.#detach = undefined
  }

  #start(limit: 'total' | 'idle', ms: number | undefined): unknown {
    if (ms === undefined) return undefined
    return this.#clock.setTimeout(() => this.onTimeout({ kind: 'timeout', reason: 'timeout', limit, ms }), ms)
  }
}

/** Infinity and delays that timers do not support mean no limit. */
const limitOf = (ms: number | undefined): number | undefined =>
  typeof ms === 'number' && ms >= 0 && ms < 2 ** 31 ? ms : undefined
