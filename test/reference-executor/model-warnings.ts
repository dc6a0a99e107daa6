import type { ModelCall } from './model-call.ts'

/** The expected warnings: abandoned bodies, and late messages. */
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

  /** A body settles once: only an abandoned body can settle too late. */
  lateEnd(call: ModelCall): void {
    if (!call.isAbandoned) return
    call.isAbandoned = false
    this.lateProgress(call)
  }

  sorted(): string[] {
    return [...this.#told].sort()
  }
}
