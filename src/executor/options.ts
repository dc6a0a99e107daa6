import { hasCheapVariables } from '../base/async-context.ts'
import { type Clock, platformClock } from '../base/clock.ts'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import type { ChartEngine, EngineName } from '../chart-engine/chart-engine.ts'
import { chooseEngine } from '../chart-engine/choose-engine.ts'
import { defaultIdsAndTime, type IdsAndTime } from '../messages/ids-and-time.ts'
import type { ResultStore } from '../results/long-result.ts'

export interface ExecutorOptions {
  /**
   * The interpreter of the charts: `table`, about four times as fast, or plain XState. With `xstate`, an inspector cannot
   * show guard results.
   * @default 'table', or 'xstate' if the table does not support the installed XState
   */
  engine?: EngineName | undefined
  /**
   * How many safe calls may execute in parallel.
   * @default 10
   */
  maxConcurrency?: number | undefined
  /**
   * The grace period of a body that was told to stop, in milliseconds. After that, the turn continues without it.
   * @default 5_000
   */
  abortGraceMs?: number | undefined
  /**
   * How many unread progress messages are kept per call.
   * @default 1_000
   */
  maxBufferedProgress?: number | undefined
  /**
   * The maximum size of a call's input, in characters.
   * @default 1_000_000
   */
  maxInputChars?: number | undefined
  /**
   * How many characters the results that nobody has read may hold. Beyond it, the text of a result goes to the
   * `resultStore` and its raw data (`toolUseResult`) is dropped; without a store only the raw data is dropped.
   * @default 64_000_000
   */
  maxUnreadChars?: number | undefined
  /**
   * Stores results that are too long for the model. Without a store they are truncated.
   * @default none
   */
  resultStore?: ResultStore | undefined
  /**
   * Whether the executor knows which body adds a call and waits for it, also after the body's first `await`. With it, a
   * body that waits for a call that can only start after the body ends is found, and that call is answered with an
   * error. On Node 20 and 22 it makes every promise of the process slower, so there it is off, and such a body is found
   * only before its first `await`.
   * @default true on Node 24 and later and where the platform has `AsyncContext`, otherwise false
   */
  trackBodies?: boolean | undefined
  /**
   * The source of all timers and times.
   * @default the timers and the date of the platform
   */
  clock?: Clock | undefined
  /**
   * Creates the ids of messages, and of calls without an id.
   * @default crypto.randomUUID
   */
  uuid?: (() => string) | undefined
}

export interface Settings {
  readonly engine: ChartEngine
  readonly maxConcurrency: number
  readonly abortGraceMs: number
  readonly maxBufferedProgress: number
  readonly maxInputChars: number
  readonly maxUnreadChars: number
  readonly resultStore: ResultStore | undefined
  readonly trackBodies: boolean
  readonly clock: Clock
  readonly idsAndTime: IdsAndTime
}

/** The longest delay that the platform's timers support. */
const maxDelay = 2 ** 31 - 1

const defaults: Settings = {
  /** Evaluated lazily, because the engine tests itself at first use. */
  get engine() {
    return chooseEngine()
  },
  maxConcurrency: 10,
  abortGraceMs: 5_000,
  maxBufferedProgress: 1_000,
  maxInputChars: 1_000_000,
  maxUnreadChars: 64_000_000,
  resultStore: undefined,
  trackBodies: hasCheapVariables,
  clock: platformClock,
  idsAndTime: defaultIdsAndTime,
}

/** Checked on entry, so that an invalid option throws at the call that passed it. */
export function readOptions(options: ExecutorOptions | undefined): Settings {
  if (options === undefined) return defaults
  if (typeof options !== 'object' || options === null) invalidOption('options', 'an object', options)
  for (const key of Object.keys(options)) if (!names.has(key)) unknownOption(key, names)
  const { clock = platformClock, uuid = defaultIdsAndTime.uuid, resultStore, trackBodies = hasCheapVariables } = options
  if (resultStore !== undefined && typeof resultStore?.save !== 'function') {
    invalidOption('resultStore', 'an object with save', resultStore)
  }
  if (typeof clock?.setTimeout !== 'function' || typeof clock.clearTimeout !== 'function') {
    invalidOption('clock', 'an object with setTimeout and clearTimeout', clock)
  }
  if (typeof trackBodies !== 'boolean') invalidOption('trackBodies', 'true or false', trackBodies)
  if (typeof uuid !== 'function') invalidOption('uuid', 'a function that returns a string', uuid)
  return {
    engine: engineNamed(options.engine),
    maxConcurrency: count('maxConcurrency', options.maxConcurrency, defaults.maxConcurrency, 1, Infinity),
    abortGraceMs: count('abortGraceMs', options.abortGraceMs, defaults.abortGraceMs, 0, maxDelay),
    maxBufferedProgress: count(
      'maxBufferedProgress',
      options.maxBufferedProgress,
      defaults.maxBufferedProgress,
      1,
      Infinity,
    ),
    maxInputChars: count('maxInputChars', options.maxInputChars, defaults.maxInputChars, 1, Infinity),
    maxUnreadChars: count('maxUnreadChars', options.maxUnreadChars, defaults.maxUnreadChars, 0, Infinity),
    resultStore,
    trackBodies,
    clock,
    idsAndTime: sturdy(uuid, clock),
  }
}

function engineNamed(name: EngineName | undefined): ChartEngine {
  if (name !== undefined && name !== 'table' && name !== 'xstate') invalidOption('engine', "'table' or 'xstate'", name)
  return chooseEngine(name)
}

/** A message needs an id and a time, even if the host's functions fail. */
function sturdy(uuid: () => string, clock: Clock): IdsAndTime {
  let busy = 0
  const ask = <Value>(get: () => Value, type: 'string' | 'number'): Value | undefined => {
    busy++
    try {
      return attempt(get, type)
    } finally {
      busy--
    }
  }
  return {
    uuid: uuid === defaultIdsAndTime.uuid ? uuid : () => ask(uuid, 'string') ?? defaultIdsAndTime.uuid(),
    now: typeof clock.now === 'function' ? () => ask(() => clock.now?.(), 'number') ?? Date.now() : Date.now,
    isBusy: () => busy > 0,
  }
}

function attempt<Value>(get: () => Value, type: 'string' | 'number'): Value | undefined {
  try {
    const value = get()
    return typeof value === type && value !== '' ? value : undefined
  } catch {
    return undefined
  }
}

function count(name: string, given: number | undefined, otherwise: number, least: number, most: number): number {
  if (given === undefined) return otherwise
  const isWhole = Number.isInteger(given) || given === Infinity
  if (!isWhole || given < least || given > most) {
    const range = most === Infinity ? `of at least ${least}, or Infinity` : `from ${least} to ${most}`
    invalidOption(name, `an integer ${range}`, given)
  }
  return given
}

const names = new Set<string>([
  'engine',
  'maxConcurrency',
  'abortGraceMs',
  'maxBufferedProgress',
  'maxInputChars',
  'maxUnreadChars',
  'resultStore',
  'trackBodies',
  'clock',
  'uuid',
] satisfies (keyof ExecutorOptions)[])
