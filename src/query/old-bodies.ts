import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'

/** The bodies of discarded attempts that still run. */
export class OldBodies {
  #attempts = 0
  #gone: Promise<void> = Promise.resolve()

  add(executor: StreamingToolExecutor): void {
    this.#attempts++
    this.#gone = Promise.all([this.#gone, executor.whenIdle()]).then(() => {
      this.#attempts--
    })
  }

  /** Undefined if there are none, so that nothing has to wait. */
  whenGone(): Promise<void> | undefined {
    return this.#attempts === 0 ? undefined : this.#gone
  }
}
