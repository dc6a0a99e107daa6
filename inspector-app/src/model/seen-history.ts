import type { Frame } from '../../../src/inspect/index.ts'
import { SeenRuns } from '../../../src/inspect/runs/read-run.ts'
import type { History } from './history.ts'

/** The runs of a history up to a moment, read in small steps: a long recording must not block the page. */
export class SeenHistory {
  readonly runs = new SeenRuns()
  until: number
  readonly #history: History
  #read = 0

  constructor(history: History) {
    this.#history = history
    this.until = history.length
  }

  get isRead(): boolean {
    return this.#read >= this.until
  }

  /** Continues to the newest frame. */
  extend(): void {
    this.until = this.#history.length
  }

  /** The number of newer frames. */
  get newer(): number {
    return this.#history.length - this.until
  }

  /** The frames between are no longer kept. */
  #skip(): void {
    for (const frame of this.#history.opening()) this.runs.see(frame)
    this.#read = this.#history.start
  }

  /** @param until a time of `performance.now` */
  advance(until: number): void {
    while (!this.isRead) {
      if (this.#read < this.#history.start) this.#skip()
      this.runs.see(this.#history.at(this.#read++) as Frame)
      if (this.#read % 64 === 0 && performance.now() > until) return
    }
  }
}
