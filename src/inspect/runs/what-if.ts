import type { ResourceKeys } from '../../../machines/index.ts'
import { invalidOption } from '../../base/invalid-option.ts'
import { anIntegerFrom, checkOption, infinity, isFunction, milliseconds, or } from '../../base/option-rules.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { readResources } from '../../pipeline/read-resources.ts'
import type { Frame } from '../frames/frame.ts'
import { toMicros } from './agenda.ts'
import { type CallTimes, callTimes, type RunTimes, runTimes } from './call-times.ts'
import { caveatsOf } from './caveats.ts'
import { readRun } from './read-run.ts'
import { recordRerun } from './record-rerun.ts'
import { type Changes, Rerun } from './rerun.ts'
import type { BodyBy, CallChange } from './scripted-call.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenRun } from './seen-run.ts'

/** The properties of a call that `safe` can use. */
export type MarkedCall = Pick<SeenCall, 'id' | 'name' | 'label' | 'input' | 'isSafe'>

interface NamedResources {
  readonly reads?: readonly string[] | undefined
  readonly writes?: readonly string[] | undefined
}

export interface WhatIfOptions {
  /**
   * The number of the run in the recording.
   * @default the first that has calls
   */
  readonly run?: number | undefined
  /**
   * How many safe calls may execute at once.
   * @default as recorded
   */
  readonly maxConcurrency?: number | undefined
  /** Whether a call may run beside other safe calls; undefined keeps the recorded class. */
  readonly safe?: ((call: MarkedCall) => boolean | undefined) | undefined
  /** The resources that a call reads and writes, as `resources` of a tool names them; undefined keeps the recorded ones. */
  readonly resources?: ((call: MarkedCall) => NamedResources | undefined) | undefined
  /**
   * How long the body of a call runs until it goes to the background, in milliseconds, like `background.afterMs` of a
   * tool. `Infinity`: never. Undefined keeps what was recorded.
   */
  readonly backgroundAfterMs?: ((call: MarkedCall) => number | undefined) | undefined
  /**
   * The duration of phases that do not end in the recording, in milliseconds.
   * @default until the call is aborted
   */
  readonly unseenMs?: number | undefined
}

/** A recorded run, and a simulation of it with changes. */
export interface WhatIf {
  readonly recorded: RunTimes
  readonly simulated: RunTimes
  /** The calls that start, end or are handed over at a different time, in emission order. */
  readonly moved: readonly MovedCall[]
  /** Reasons not to rely on the result, as sentences. */
  readonly caveats: readonly string[]
  /** The simulated run as a recording, for any view of the inspector. */
  recording(): Frame[]
}

export interface MovedCall {
  readonly recorded: CallTimes
  readonly simulated: CallTimes
  /** Milliseconds; negative is earlier. Undefined if it happens in only one of the two runs. */
  readonly startsBy: number | undefined
  readonly endsBy: number | undefined
  readonly yieldsBy: number | undefined
}

/**
 * Simulates a recorded run with another limit or other safety classes. The charts and the schedule are the production
 * ones; outside events and durations are as recorded. Without changes, the result equals the recorded run.
 *
 * @example
 * const { recorded, simulated } = whatIf(frames, { maxConcurrency: 20, safe: ({ name, isSafe }) => isSafe || name === 'Fetch' })
 */
export function whatIf(frames: Iterable<Frame>, options: WhatIfOptions = {}): WhatIf {
  const work = new WhatIfWork(readRun(frames, options.run), options)
  work.advance()
  return work.result()
}

/** The same in small steps, for callers that must not block. */
export class WhatIfWork {
  readonly #seen: SeenRun
  readonly #changes: Changes
  readonly #unchanged: Rerun
  readonly #rerun: Rerun

  /**
   * @param bodyBy how much longer bodies take because of the agents inside them, in microseconds
   * @param refused the calls that a limit forbids
   */
  constructor(seen: SeenRun, options: WhatIfOptions, bodyBy = noLonger, refused: ReadonlySet<string> = new Set()) {
    this.#seen = seen
    this.#changes = changesOf(seen, options, bodyBy, refused)
    this.#unchanged = unchangedOf(seen)
    this.#rerun = new Rerun(seen, this.#changes)
  }

  get isOver(): boolean {
    return this.#rerun.isOver
  }

  /** From 0 to 1. */
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
      caveats: caveatsOf(seen, this.#unchanged, this.#rerun),
      recording: () => recordRerun(seen, changes),
    }
  }
}

const kept = new WeakMap<SeenRun, { readonly size: number; readonly rerun: Rerun }>()

/** Cached: callers usually ask several questions about the same recording. */
function unchangedOf(seen: SeenRun): Rerun {
  const known = kept.get(seen)
  if (known?.size === seen.size) return known.rerun
  const rerun = new Rerun(seen, {
    maxConcurrency: limitOf(seen),
    of: () => asRecorded,
    bodyBy: noLonger,
    unseen: undefined,
  })
  kept.set(seen, { size: seen.size, rerun })
  return rerun
}

const limitOf = ({ maxConcurrency }: SeenRun): number => maxConcurrency ?? Number.POSITIVE_INFINITY

const asRecorded: CallChange = {}
const noLonger: BodyBy = () => 0

function changesOf(seen: SeenRun, options: WhatIfOptions, bodyBy: BodyBy, refused: ReadonlySet<string>): Changes {
  const { maxConcurrency, unseenMs } = options
  checkOption('maxConcurrency', maxConcurrency, or(anIntegerFrom(1), infinity))
  for (const name of ['safe', 'resources', 'backgroundAfterMs'] as const) {
    checkOption(name, options[name], [isFunction, 'a function of a call'])
  }
  const isTime = typeof unseenMs === 'number' && unseenMs >= 0 && Number.isFinite(unseenMs)
  if (unseenMs !== undefined && !isTime) invalidOption('unseenMs', milliseconds[1], unseenMs)
  return {
    maxConcurrency: maxConcurrency ?? limitOf(seen),
    of: (call) => (refused.has(call.id) ? { isRefused: true } : changeOf(call, options)),
    bodyBy,
    unseen: unseenMs === undefined ? undefined : toMicros(unseenMs),
  }
}

function changeOf(call: SeenCall, { safe, resources, backgroundAfterMs }: WhatIfOptions): CallChange {
  const afterMs = backgroundAfterMs?.(call)
  checkOption('backgroundAfterMs', afterMs, or(milliseconds, infinity))
  return {
    isSafe: safe?.(call),
    keys: keysOf(resources?.(call)),
    detachAfter: afterMs === undefined || afterMs === Number.POSITIVE_INFINITY ? afterMs : toMicros(afterMs),
  }
}

function keysOf(named: NamedResources | undefined): ResourceKeys | undefined {
  try {
    return named === undefined ? undefined : readResources(named)
  } catch (error) {
    throw new SignalboxError('invalid_option', `resources: ${(error as TypeError).message}.`)
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
