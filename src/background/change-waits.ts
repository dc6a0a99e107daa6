import { type Clock, clearTimer } from '../base/clock.ts'

/** Waits for a change of background calls. Each wait checks again after every step. */
export class ChangeWaits {
  #waiting: (() => void)[] = []

  wake(): void {
    for (const check of this.#waiting.splice(0)) check()
  }

  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => this.#when(isSo, resolve))
  }

  /** Resolves too when the time is up, or the signal aborts. */
  untilOrTimeout(isSo: () => boolean, clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let isOver = false
      const end = (): void => {
        isOver = true
        clearTimer(clock, timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = clock.setTimeout(end, ms)
      signal?.addEventListener('abort', end, { once: true })
      this.#when(() => isOver || isSo(), end)
    })
  }

  #when(isSo: () => boolean, then: () => void): void {
    const check = (): void => (isSo() ? then() : void this.#waiting.push(check))
    this.#waiting.push(check)
  }
}
