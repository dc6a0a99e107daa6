import type { WhatIf } from '../../../src/inspect/index.ts'
import { type MarkedCall, WhatIfWork } from '../../../src/inspect/runs/what-if.ts'
import type { History } from './history.ts'
import { Simulation } from './simulation.ts'

/** Simulates one run with another limit, or other classes of its calls. */
export class Experiment extends Simulation<WhatIf> {
  /** The classes changed in the page, by call. */
  readonly marks = new Map<string, boolean>()
  unseenMs: number | undefined
  protected readonly subject = 'This run'
  readonly #run: number

  constructor(history: History, run: number) {
    super(history)
    this.#run = run
  }

  get isChanged(): boolean {
    return this.limit !== undefined || this.marks.size > 0
  }

  undo(): void {
    this.limit = undefined
    this.marks.clear()
  }

  protected begin(): WhatIfWork {
    const safe = ({ id }: MarkedCall): boolean | undefined => this.marks.get(id)
    const options = { maxConcurrency: this.limit, safe, unseenMs: this.unseenMs }
    return new WhatIfWork(this.seen.runs.get(this.#run), options)
  }
}

const known = new WeakMap<History, Map<number, Experiment>>()

export function experimentOf(history: History, run: number): Experiment {
  const ofHistory = known.get(history) ?? new Map<number, Experiment>()
  known.set(history, ofHistory)
  const found = ofHistory.get(run) ?? new Experiment(history, run)
  ofHistory.set(run, found)
  return found
}
