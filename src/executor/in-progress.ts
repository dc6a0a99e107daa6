import type { ExecutorSchedule } from '../../machines/index.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'

/** Maintains the host's two indicators: the ids in progress, and whether everything that executes is interruptible. */
export class InProgress {
  readonly #run: ExecutorSchedule
  readonly #host: ToolUseContext
  readonly #onError: (error: unknown) => void
  /** Absent if the host does not ask for the ids. */
  readonly #changes: { readonly begun: Set<string>; readonly ended: Set<string> } | undefined
  #isInterruptible = false
  #isCleared = false

  constructor(run: ExecutorSchedule, host: ToolUseContext, onError: (error: unknown) => void) {
    this.#run = run
    this.#host = host
    this.#onError = onError
    if (host.setInProgressToolUseIDs !== undefined) this.#changes = { begun: new Set(), ended: new Set() }
  }

  begin(id: string): void {
    if (this.#changes === undefined || this.#isCleared) return
    if (!this.#changes.ended.delete(id)) this.#changes.begun.add(id)
  }

  end(id: string): void {
    if (this.#changes === undefined || this.#isCleared) return
    if (!this.#changes.begun.delete(id)) this.#changes.ended.add(id)
  }

  /** The run is discarded: nothing is in progress any more. */
  clear(): void {
    for (const call of this.#run.calls) if (call.hasStarted && call.stage !== 'yielded') this.end(call.id)
    this.#isCleared = true
  }

  /** Reports the changes since the last report to the host. */
  flush(): void {
    // a host that reads results inside its callback causes further changes
    const changes = this.#changes
    while (changes !== undefined && changes.begun.size + changes.ended.size > 0) this.#flushIds(changes)
    const { executing, interruptible } = this.#run
    const isInterruptible = !this.#isCleared && executing.size > 0 && interruptible === executing.size
    if (isInterruptible === this.#isInterruptible) return
    this.#isInterruptible = isInterruptible
    this.#tell(() => this.#host.setHasInterruptibleToolInProgress?.(isInterruptible))
  }

  #flushIds(changes: { readonly begun: Set<string>; readonly ended: Set<string> }): void {
    const begun = [...changes.begun]
    const ended = [...changes.ended]
    changes.begun.clear()
    changes.ended.clear()
    this.#tell(() =>
      this.#host.setInProgressToolUseIDs?.((previous) => {
        const next = new Set(previous)
        for (const id of begun) next.add(id)
        for (const id of ended) next.delete(id)
        return next
      }),
    )
  }

  #tell(callback: () => unknown): void {
    whenSettled(callback, () => undefined, this.#onError)
  }
}
