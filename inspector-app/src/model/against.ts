import { isSignalboxError } from '../../../src/base/signalbox-error.ts'
import type { ComparedConversations } from '../../../src/inspect/index.ts'
import { compareAllSeen } from '../../../src/inspect/runs/compare-conversations.ts'
import { type ComparedRuns, compareSeen } from '../../../src/inspect/runs/compare-runs.ts'
import { SeenRuns } from '../../../src/inspect/runs/read-run.ts'
import { readRecording } from '../feed/recorded-feed.ts'
import type { History } from './history.ts'
import { SeenHistory } from './seen-history.ts'

/** Compares the shown recording with another one: all turns, and the shown run call by call. */
export class Against {
  /** The name of the other recording. */
  name: string | undefined
  /** The id of the other one, if it is a stored session. */
  session: string | undefined
  result: ComparedRuns | undefined
  /** All turns of both recordings. */
  all: ComparedConversations | undefined
  problem: string | undefined
  isReading = false
  #run: number | undefined
  readonly #seen: SeenHistory
  #other: SeenRuns | undefined
  #otherRun: number | undefined
  #isDue = false

  constructor(history: History) {
    this.#seen = new SeenHistory(history)
  }

  /** The run of this recording that is compared call by call. */
  turnTo(run: number): void {
    if (run === this.#run) return
    this.#run = run
    if (this.#other !== undefined) this.again()
  }

  get isBusy(): boolean {
    return this.#isDue && this.problem === undefined
  }

  get newer(): number {
    return this.#seen.newer
  }

  /** The runs of the other recording that have calls. */
  get choices(): { readonly run: number; readonly title: string }[] {
    const runs = [...(this.#other?.byNumber ?? [])].filter(([, { calls }]) => calls.length > 0)
    return runs.map(([run, { title }]) => ({ run, title }))
  }

  /** Reads the other recording. */
  async open(name: string, stream: ReadableStream<Uint8Array>, session?: string): Promise<void> {
    const other = new SeenRuns()
    Object.assign(this, { name, session, result: undefined, all: undefined, problem: undefined, isReading: true })
    this.#other = undefined
    this.#isDue = false
    try {
      await readRecording(stream, (frames) => {
        for (const frame of frames) other.see(frame)
        return true
      })
      this.#other = other
      this.choose(undefined)
    } catch (error) {
      this.#fail(error)
    }
    this.isReading = false
  }

  choose(run: number | undefined): void {
    this.#otherRun = run
    this.again()
  }

  takeIn(): void {
    this.#seen.extend()
    this.again()
  }

  again(): void {
    this.problem = undefined
    this.#isDue = this.#other !== undefined
  }

  advance(maxMs: number): void {
    try {
      this.#seen.advance(performance.now() + maxMs)
      if (!this.#seen.isRead || this.#other === undefined) return
      this.all = compareAllSeen(this.#seen.runs, this.#other)
      this.result = compareSeen(this.#seen.runs.get(this.#run), this.#other.get(this.#otherRun))
      this.#isDue = false
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.result = undefined
    this.all = undefined
    this.problem = isSignalboxError(error) ? error.message : 'This recording cannot be read. It may be damaged.'
  }
}

const known = new WeakMap<History, Against>()

export function againstOf(history: History): Against {
  const found = known.get(history) ?? new Against(history)
  known.set(history, found)
  return found
}
