import type { Frame } from '../inspect/index.ts'
import { type Breach, breachesOf, type Invariant } from './invariant.ts'
import { recordingInvariants } from './invariants.ts'
import { RecordedTurn } from './recorded-turn.ts'
import type { TurnEvidence } from './turn-evidence.ts'

export interface RecordedBreach extends Breach {
  readonly run: number
  /** The frame after which the breach appeared. */
  readonly seq: number
}

interface CheckedRun {
  readonly turn: RecordedTurn
  /** The invariants without a breach so far; each breach is reported once. */
  left: readonly Invariant[]
  lastSeq: number
}

/**
 * Checks a recording while it is read, but only between steps: state in the middle of a step is not consistent. An event
 * from outside marks a point between steps.
 */
export class RecordingChecks {
  readonly #invariants: readonly Invariant[]
  readonly #runs = new Map<number, CheckedRun>()
  readonly #found: RecordedBreach[] = []
  readonly #forgetsEnded: boolean
  #told = 0

  /** @param forgetsEnded for streams without an end: a run that the recorder left keeps its breaches only */
  constructor(invariants: readonly Invariant[] = recordingInvariants, forgetsEnded = false) {
    this.#invariants = invariants
    this.#forgetsEnded = forgetsEnded
  }

  see(frame: Frame): void {
    if (frame.type === 'run') {
      this.#runs.set(frame.run, { turn: new RecordedTurn(frame), left: this.#invariants, lastSeq: frame.seq })
      return
    }
    const run = this.#runs.get(frame.run)
    if (run === undefined) return
    const isFromOutside = frame.type === 'event' && frame.from === null
    if (isFromOutside || frame.type === 'left') this.#look(frame.run, run)
    run.turn.see(frame)
    run.lastSeq = frame.seq
    if (frame.type !== 'left' || !this.#forgetsEnded) return
    this.#look(frame.run, run)
    this.#runs.delete(frame.run)
  }

  /** All breaches. Pass false if more frames of the current step can follow. */
  breaches(isAtRest = true): RecordedBreach[] {
    if (!isAtRest) return [...this.#found]
    return [...this.#found, ...[...this.#runs].flatMap(([id, run]) => breachesNow(id, run))]
  }

  /** Breaches since the last call. Call it between steps. */
  newBreaches(): RecordedBreach[] {
    for (const [id, run] of this.#runs) this.#look(id, run)
    const found = this.#found.slice(this.#told)
    this.#told = this.#found.length
    return found
  }

  evidence(): Map<number, TurnEvidence> {
    return new Map([...this.#runs].map(([run, { turn }]) => [run, turn.book]))
  }

  #look(id: number, run: CheckedRun): void {
    const breaches = breachesNow(id, run)
    if (breaches.length === 0) return
    this.#found.push(...breaches)
    const broken = new Set(breaches.map(({ invariant }) => invariant))
    run.left = run.left.filter(({ name }) => !broken.has(name))
  }
}

const breachesNow = (run: number, { turn, left, lastSeq }: CheckedRun): RecordedBreach[] =>
  breachesOf(turn.book, left).map((breach) => ({ ...breach, run, seq: lastSeq }))

/**
 * Checks invariants on each run of a recording. Returns the breaches, each with the frame after which it first appeared.
 * Facts that only a live watch knows (sleeping readers, undelivered progress) are assumed to be correct.
 */
export function checkRecording(frames: Iterable<Frame>, invariants?: readonly Invariant[]): RecordedBreach[] {
  const checks = new RecordingChecks(invariants)
  for (const frame of frames) checks.see(frame)
  return checks.breaches()
}

/** The evidence that a recording contains, by run. */
export function evidenceOf(frames: Iterable<Frame>): Map<number, TurnEvidence> {
  const checks = new RecordingChecks([])
  for (const frame of frames) checks.see(frame)
  return checks.evidence()
}
