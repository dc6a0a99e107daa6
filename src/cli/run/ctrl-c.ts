import type { Query } from '../../index.ts'

const hints = [
  '',
  'Interrupted: what must not be broken off may finish. Ctrl+C again stops everything.',
  'Stopping everything. Ctrl+C again leaves at once.',
] as const

/** Once interrupts, twice aborts, three times leaves. */
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

  /** Somebody asks this process to end: no finishing. */
  abort(): void {
    if (this.#count >= 2) return this.#leave()
    this.#count = 2
    this.#run.abort('terminated')
  }
}
