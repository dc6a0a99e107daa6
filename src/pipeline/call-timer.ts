import type { TimeoutCause } from '../../machines/index.ts'
import type { Timeout } from '../tool/tool.ts'
import type { Clock } from './clock.ts'

/** The time of one running body: in total, since its last progress, and once it was told to stop. */
export class CallTimer {
  readonly #clock: Clock
  readonly #onTimeout: (cause: TimeoutCause) => void
  #idleMs: number | undefined
  #total: unknown
  #idle: unknown
  #grace: unknown

  constructor(clock: Clock, onTimeout: (cause: TimeoutCause) => void) {
    this.#clock = clock
    this.#onTimeout = onTimeout
  }

  start(timeout: Timeout | undefined): void {
    const { totalMs, idleMs } = typeof timeout === 'number' ? { totalMs: timeout } : (timeout ?? {})
    this.#idleMs = limitOf(idleMs)
    this.#total = this.#start('total', limitOf(totalMs))
    this.#idle = this.#start('idle', this.#idleMs)
  }

  /** There was progress. */
  extend(): void {
    if (this.#idle === undefined) return
    this.#cancel(this.#idle)
    this.#idle = this.#start('idle', this.#idleMs)
  }

  /** Told to stop: the limits no longer count, only how long it takes to obey. */
  startGrace(ms: number, onEnd: () => void): void {
    this.clear()
    this.#grace = this.#clock.setTimeout(onEnd, ms)
  }

  clear(): void {
    for (const timer of [this.#total, this.#idle, this.#grace]) if (timer !== undefined) this.#cancel(timer)
    this.#idle = undefined
  }

  /** A clock of the host that throws here leaves a timer that finds nobody. */
  #cancel(timer: unknown): void {
    try {
      this.#clock.clearTimeout(timer)
    } catch {
      // the call goes on: it has a result to hand over
    }
  }

  #start(limit: 'total' | 'idle', ms: number | undefined): unknown {
    if (ms === undefined) return undefined
    return this.#clock.setTimeout(() => this.#onTimeout({ kind: 'timeout', reason: 'timeout', limit, ms }), ms)
  }
}

/** Infinity, and what timers cannot hold, mean no limit. */
const limitOf = (ms: number | undefined): number | undefined =>
  typeof ms === 'number' && ms >= 0 && ms < 2 ** 31 ? ms : undefined
