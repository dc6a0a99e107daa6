import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'

/** The bodies of attempts that do not count any more, until the last of them is gone. */
export class OldBodies {
  #attempts = 0
  #gone: Promise<void> = Promise.resolve()

  add(executor: StreamingToolExecutor): void {
    this.#attempts++
    this.#gone = Promise.all([this.#gone, executor.whenIdle()]).then(() => {
      this.#attempts--
    })
  }

  /** Undefined where there are none, and nobody has to wait. */
  whenGone(): Promise<void> | undefined {
    return this.#attempts === 0 ? undefined : this.#gone
  }
}
