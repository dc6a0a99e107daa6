import type { Query } from 'signalbox'

const hints = [
  '',
  'Interrupted: calls that must not be interrupted may finish. Ctrl+C again stops everything.',
  'Stopping everything. Ctrl+C again exits at once.',
] as const

/** Once interrupts, twice aborts, three times exits. */
export class CtrlC {
  readonly #run: Pick<Query, 'interrupt' | 'abort'>
  readonly #leave: () => void
  #count = 0

  constructor(run: Pick<Query, 'interrupt' | 'abort'>, leave: () => void) {
    this.#run = run
    this.#leave = leave
  }

  get hint(): string {
    return hints[this.#count] ?? ''
  }

  press(): void {
    this.#count++
    if (this.#count === 1) this.#run.interrupt()
    else if (this.#count === 2) this.#run.abort('user_abort')
    else this.#leave()
  }

  /** Resets for another run. */
  reset(): void {
    this.#count = 0
  }

  /** SIGTERM: abort without waiting. */
  abort(): void {
    if (this.#count >= 2) return this.#leave()
    this.#count = 2
    this.#run.abort('terminated')
  }
}
