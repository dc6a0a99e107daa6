import { SignalboxError } from '../../errors/signalbox-error.ts'
import { describeValue } from '../../text/describe-value.ts'
import type { Frame } from '../frame.ts'
import { toMicros } from './agenda.ts'
import { type CallTimes, callTimes, type RunTimes, runTimes } from './call-times.ts'
import { doubtsOf } from './doubts.ts'
import { readRun } from './read-run.ts'
import { recordRerun } from './record-rerun.ts'
import { type Changes, Rerun } from './rerun.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenRun } from './seen-run.ts'

/** A call, as far as a mark may depend on it. */
export type MarkedCall = Pick<SeenCall, 'id' | 'name' | 'label' | 'input' | 'isSafe'>

export interface WhatIfOptions {
  /**
   * Which run of the recording.
   * @default the first that has calls
   */
  readonly run?: number | undefined
  /**
   * How many safe calls may execute side by side.
   * @default as recorded
   */
  readonly maxConcurrency?: number | undefined
  /** Whether a call may run beside others; undefined leaves it as recorded. */
  readonly safe?: ((call: MarkedCall) => boolean | undefined) | undefined
  /**
   * How long something takes whose end the recording does not hold, in milliseconds.
   * @default it goes on until it is told to stop
   */
  readonly unseenMs?: number | undefined
}

/** A recorded run, and the same run with something changed. */
export interface WhatIf {
  readonly recorded: RunTimes
  readonly simulated: RunTimes
  /** Those that start, end or are handed over at another time, in the order asked. */
  readonly moved: readonly MovedCall[]
  /** What to think of before believing it, in sentences. */
  readonly doubts: readonly string[]
  /** The simulated run as a recording: every view of the inspector can show it. */
  recording(): Frame[]
}

export interface MovedCall {
  readonly recorded: CallTimes
  readonly simulated: CallTimes
  /** Milliseconds; negative is earlier, undefined where it happens only once of the two. */
  readonly startsBy: number | undefined
  readonly endsBy: number | undefined
  readonly yieldsBy: number | undefined
}

/**
 * Runs a recorded run again, with another limit or other marks. The charts and books are those that run in production;
 * what came from outside, and how long everything took, is as recorded. Without a change it is the recorded run.
 *
 * @example
 * const { recorded, simulated } = whatIf(frames, { maxConcurrency: 20, safe: ({ name, isSafe }) => isSafe || name === 'Fetch' })
 */
export function whatIf(frames: Iterable<Frame>, options: WhatIfOptions = {}): WhatIf {
  const work = new WhatIfWork(readRun(frames, options.run), options)
  work.advance()
  return work.result()
}

/** The same in pieces, for whoever must not be held up. */
export class WhatIfWork {
  readonly #seen: SeenRun
  readonly #changes: Changes
  readonly #unchanged: Rerun
  readonly #rerun: Rerun

  constructor(seen: SeenRun, options: WhatIfOptions) {
    this.#seen = seen
    this.#changes = changesOf(seen, options)
    this.#unchanged = unchangedOf(seen)
    this.#rerun = new Rerun(seen, this.#changes)
  }

  get isOver(): boolean {
    return this.#rerun.isOver
  }

  /** How much of it is done, from 0 to 1. */
  get progress(): number {
    const all = 2 * this.#seen.calls.length
    return all === 0 ? 1 : Math.min(1, (this.#unchanged.ended + this.#rerun.ended) / all)
  }

  advance(maxMs?: number): void {
    if (this.#unchanged.isOver) this.#rerun.advance(maxMs)
    else this.#unchanged.advance(maxMs)
    if (maxMs === undefined && !this.isOver) this.advance()
  }

  result(): WhatIf {
    const [seen, changes] = [this.#seen, this.#changes]
    const { maxConcurrency } = changes
    const limit = Number.isFinite(maxConcurrency) ? maxConcurrency : null
    const made = this.#rerun.calls.map((call) => callTimes(call.seen, call.way, call.wasSafe))
    const recorded = runTimes(
      seen.maxConcurrency,
      seen.calls.map((call) => callTimes(call)),
    )
    const simulated = runTimes(limit, made)
    return {
      recorded,
      simulated,
      moved: recorded.calls.map((call, index) => moveOf(call, made[index] as CallTimes)).filter(isMoved),
      doubts: doubtsOf(seen, this.#unchanged, this.#rerun),
      recording: () => recordRerun(seen, changes),
    }
  }
}

const kept = new WeakMap<SeenRun, { readonly size: number; readonly rerun: Rerun }>()

/** Whoever asks one question asks another: that the recording can be told again is found out once. */
function unchangedOf(seen: SeenRun): Rerun {
  const known = kept.get(seen)
  if (known?.size === seen.size) return known.rerun
  const rerun = new Rerun(seen, { maxConcurrency: limitOf(seen), safe: () => undefined, unseen: undefined })
  kept.set(seen, { size: seen.size, rerun })
  return rerun
}

const limitOf = ({ maxConcurrency }: SeenRun): number => maxConcurrency ?? Number.POSITIVE_INFINITY

function changesOf(seen: SeenRun, { maxConcurrency, safe, unseenMs }: WhatIfOptions): Changes {
  const isLimit = Number.isInteger(maxConcurrency) || maxConcurrency === Number.POSITIVE_INFINITY
  if (maxConcurrency !== undefined && (!isLimit || maxConcurrency < 1)) {
    fail('maxConcurrency', 'a whole number from 1 to Infinity', maxConcurrency)
  }
  if (safe !== undefined && typeof safe !== 'function') fail('safe', 'a function of a call', safe)
  const isTime = typeof unseenMs === 'number' && unseenMs >= 0 && Number.isFinite(unseenMs)
  if (unseenMs !== undefined && !isTime) fail('unseenMs', 'a number of milliseconds', unseenMs)
  return {
    maxConcurrency: maxConcurrency ?? limitOf(seen),
    safe: (call) => safe?.(call),
    unseen: unseenMs === undefined ? undefined : toMicros(unseenMs),
  }
}

function moveOf(recorded: CallTimes, simulated: CallTimes): MovedCall {
  const by = (key: 'startedAt' | 'endedAt' | 'yieldedAt'): number | undefined => {
    const [before, now] = [recorded[key], simulated[key]]
    if (before === undefined && now === undefined) return 0
    return before === undefined || now === undefined ? undefined : Math.round((now - before) * 1_000) / 1_000
  }
  return { recorded, simulated, startsBy: by('startedAt'), endsBy: by('endedAt'), yieldsBy: by('yieldedAt') }
}

const isMoved = ({ startsBy, endsBy, yieldsBy }: MovedCall): boolean => startsBy !== 0 || endsBy !== 0 || yieldsBy !== 0

function fail(option: string, expected: string, came: unknown): never {
  throw new SignalboxError('invalid_option', `${option} must be ${expected}, but got ${describeValue(came, 80)}.`)
}
