import type { ModelCall } from './model-call.ts'

/** What the executor has to report: bodies that were given up, and what came when nobody waited for it. */
export class ModelWarnings {
  readonly #told: string[] = []

  abandoned(call: ModelCall): void {
    call.isAbandoned = true
    this.#told.push(`${call.label} abandoned`)
  }

  lateProgress(call: ModelCall): void {
    call.lateCount += 1
    this.#told.push(`${call.label} late ${call.lateCount}`)
  }

  /** A body settles once: only one that was given up before can do so too late. */
  lateEnd(call: ModelCall): void {
    if (!call.isAbandoned) return
    call.isAbandoned = false
    this.lateProgress(call)
  }

  sorted(): string[] {
    return [...this.#told].sort()
  }
}
