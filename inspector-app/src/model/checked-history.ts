import type { Frame } from '../../../src/inspect/index.ts'
import { RecordingChecks } from '../../../src/testing/recording-checks.ts'
import type { History } from './history.ts'

export interface FoundBreach {
  readonly invariant: string
  readonly problem: string
  readonly run: number
  /** The frame after which it did not hold. */
  readonly seq: number
}

/** The testing kit's own checks on a history, a little at a time: a long recording must not hold up the page. */
export class CheckedHistory {
  readonly #history: History
  readonly #checks = new RecordingChecks()
  /** What whoever recorded it found, with rules that the page does not know. */
  readonly #told: FoundBreach[] = []
  #seen = 0

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
      const frame = this.#history.frames[this.#seen++] as Frame
      if (frame.type === 'breach') this.#told.push(frame)
      else this.#checks.see(frame)
      // after each: with thousands of calls one check alone can take as long as a picture
      if (performance.now() > until) return
    }
  }

  /** What does not hold of a run, each rule once, with its first moment. */
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
