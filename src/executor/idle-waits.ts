import type { ExecutorSchedule } from '../../machines/index.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { OwnWaits } from './own-waits.ts'

interface IdleWait {
  readonly resolve: () => void
  /** The body that waits, if one does. */
  readonly inside: ToolCall | undefined
}

/** Promises that resolve when no body runs any more: each has settled, or its grace period is over. */
export class IdleWaits {
  /** The chart of a stopped executor no longer counts executing calls. */
  isStopped = false
  readonly #run: ExecutorSchedule
  readonly #ownWaits: OwnWaits
  #waiting: IdleWait[] = []

  constructor(run: ExecutorSchedule, ownWaits: OwnWaits) {
    this.#run = run
    this.#ownWaits = ownWaits
  }

  wait(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    const inside = this.#ownWaits.begin()
    return new Promise((resolve) => this.#waiting.push({ resolve, inside }))
  }

  /** A body that waits until nothing runs does not wait for itself. */
  wake(): void {
    if (this.#waiting.length === 0) return
    const isIdle = this.#isIdle
    const waiting = new Set(this.#waiting.map(({ inside }) => inside))
    const isIdleInside = isIdle || this.#executing.every((call) => waiting.has(call))
    const woken = this.#waiting.filter(({ inside }) => (inside === undefined ? isIdle : isIdleInside))
    this.#waiting = this.#waiting.filter((each) => !woken.includes(each))
    for (const { resolve, inside } of woken) {
      this.#ownWaits.end(inside)
      resolve()
    }
  }

  get #executing(): ToolCall[] {
    return [...this.#run.executing] as ToolCall[]
  }

  get #isIdle(): boolean {
    if (!this.isStopped) return this.#run.executing.size === 0
    return this.#executing.every(({ ref }) => ref?.getSnapshot().matches('executing') !== true)
  }
}
