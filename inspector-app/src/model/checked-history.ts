import type { Frame } from '../../../src/inspect/index.ts'
import { RecordingChecks } from '../../../src/testing/recording-checks.ts'
import type { History } from './history.ts'

export interface FoundBreach {
  readonly invariant: string
  readonly problem: string
  readonly run: number
  /** The frame after which the breach appeared. */
  readonly seq: number
}

/** Runs the invariants of `signalbox/testing` on a history, in small steps: a long recording must not block the page. */
export class CheckedHistory {
  readonly #history: History
  readonly #checks = new RecordingChecks(undefined, true)
  /** Breaches in the recording itself, of invariants that the page does not know. */
  readonly #told: FoundBreach[] = []
  #seen = 0
  /** Stands for frames that were dropped before they were checked. */
  #opening: Frame[] = []

  constructor(history: History) {
    this.#history = history
  }

  /** How many frames have been checked. */
  get position(): number {
    return this.#seen
  }

  get isBehind(): boolean {
    return this.#seen < this.#history.length
  }

  advance(maxMs: number): void {
    const until = performance.now() + maxMs
    while (this.isBehind) {
      const frame = this.#next()
      if (frame.type === 'breach') this.#told.push(frame)
      else this.#checks.see(frame)
      // after each one: with thousands of calls, a single check can take a whole animation frame
      if (performance.now() > until) return
    }
  }

  #next(): Frame {
    const { start } = this.#history
    if (this.#seen < start) {
      this.#opening = this.#history.opening()
      this.#seen = start
    }
    return this.#opening.shift() ?? (this.#history.at(this.#seen++) as Frame)
  }

  /** The breaches of a run, each invariant once, at its first moment. */
  breaches(run: number): Map<string, FoundBreach> {
    const found = new Map<string, FoundBreach>()
    for (const breach of [...this.#checks.breaches(!this.isBehind), ...this.#told]) {
      if (breach.run === run && !found.has(breach.invariant)) found.set(breach.invariant, breach)
    }
    return found
  }
}

const known = new WeakMap<History, CheckedHistory>()

export function checksOf(history: History): CheckedHistory {
  const found = known.get(history) ?? new CheckedHistory(history)
  known.set(history, found)
  return found
}
