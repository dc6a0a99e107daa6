import { isSignalboxError } from '../../../src/base/signalbox-error.ts'
import type { WhatIf } from '../../../src/inspect/index.ts'
import { type MarkedCall, WhatIfWork } from '../../../src/inspect/runs/what-if.ts'
import type { History } from './history.ts'
import { SeenHistory } from './seen-history.ts'

/** Simulates the run with changes, in small steps: a long run must not block the page. */
export class Experiment {
  /** Undefined: as recorded. */
  limit: number | undefined
  /** The classes changed in the page, by call. */
  readonly marks = new Map<string, boolean>()
  unseenMs: number | undefined
  result: WhatIf | undefined
  problem: string | undefined
  readonly #run: number
  /** Later frames have no effect until `takeIn`. */
  readonly #seen: SeenHistory
  #work: WhatIfWork | undefined
  #isDue = true
  #began = performance.now()

  constructor(history: History, run: number) {
    this.#run = run
    this.#seen = new SeenHistory(history)
  }

  get isBusy(): boolean {
    return this.#isDue && this.problem === undefined
  }

  get isChanged(): boolean {
    return this.limit !== undefined || this.marks.size > 0
  }

  /** Whether to show the progress; for short work it would only flicker. */
  get isSlow(): boolean {
    return this.isBusy && performance.now() - this.#began > 250
  }

  get progress(): string {
    return `${Math.round((this.#work?.progress ?? 0) * 100)} %`
  }

  undo(): void {
    this.limit = undefined
    this.marks.clear()
  }

  /** The number of newer frames. */
  get newer(): number {
    return this.#seen.newer
  }

  /** Continues to the newest frame. */
  takeIn(): void {
    this.#seen.extend()
    this.again()
  }

  /** Restarts after a change. The old result stays visible until the new one is ready. */
  again(): void {
    this.#work = undefined
    this.problem = undefined
    this.#isDue = true
    this.#began = performance.now()
  }

  advance(maxMs: number): void {
    try {
      this.#advance(performance.now() + maxMs)
    } catch (error) {
      this.#work = undefined
      this.result = undefined
      this.problem = isSignalboxError(error)
        ? error.message
        : 'This run cannot be simulated. Its recording may be damaged.'
    }
  }

  #advance(until: number): void {
    this.#seen.advance(until)
    if (!this.#seen.isRead) return
    this.#work ??= this.#begin()
    this.#work.advance(Math.max(1, until - performance.now()))
    if (!this.#work.isOver) return
    this.result = this.#work.result()
    this.#work = undefined
    this.#isDue = false
  }

  #begin(): WhatIfWork {
    const safe = ({ id }: MarkedCall): boolean | undefined => this.marks.get(id)
    const options = { maxConcurrency: this.limit, safe, unseenMs: this.unseenMs }
    return new WhatIfWork(this.#seen.runs.get(this.#run), options)
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
