import { isSignalboxError } from '../../../src/base/signalbox-error.ts'
import type { History } from './history.ts'
import { SeenHistory } from './seen-history.ts'

/** A simulation that advances in small steps. */
interface Work<Result> {
  readonly isOver: boolean
  readonly progress: number
  advance(maxMs: number): void
  result(): Result
}

/** Simulates what the page has seen with changes, in small steps: long work must not block the page. */
export abstract class Simulation<Result> {
  /** Undefined: as recorded. */
  limit: number | undefined
  result: Result | undefined
  problem: string | undefined
  /** Later frames have no effect until `takeIn`. */
  protected readonly seen: SeenHistory
  #work: Work<Result> | undefined
  #isDue = true
  #began = performance.now()

  constructor(history: History) {
    this.seen = new SeenHistory(history)
  }

  abstract get isChanged(): boolean
  abstract undo(): void
  /** Such as "This run". */
  protected abstract get subject(): string
  protected abstract begin(): Work<Result>

  get isBusy(): boolean {
    return this.#isDue && this.problem === undefined
  }

  /** Whether to show the progress; for short work it would only flicker. */
  get isSlow(): boolean {
    return this.isBusy && performance.now() - this.#began > 250
  }

  get progress(): string {
    return `${Math.round((this.#work?.progress ?? 0) * 100)} %`
  }

  /** The number of newer frames. */
  get newer(): number {
    return this.seen.newer
  }

  /** Continues to the newest frame. */
  takeIn(): void {
    this.seen.extend()
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
        : `${this.subject} cannot be simulated. Its recording may be damaged.`
    }
  }

  #advance(until: number): void {
    this.seen.advance(until)
    if (!this.seen.isRead) return
    this.#work ??= this.begin()
    this.#work.advance(Math.max(1, until - performance.now()))
    if (!this.#work.isOver) return
    this.result = this.#work.result()
    this.#work = undefined
    this.#isDue = false
  }
}
