import { SignalboxError } from '../errors/signalbox-error.ts'
import { defaultStamps, type Stamps } from '../messages/stamps.ts'
import { type Clock, platformClock } from '../pipeline/clock.ts'
import type { ResultStore } from '../results/result-store.ts'
import { describeValue } from '../text/describe-value.ts'

export interface ExecutorOptions {
  /**
   * How many safe calls may execute side by side.
   * @default 10
   */
  maxConcurrency?: number | undefined
  /**
   * How long a body that was told to stop may take, in milliseconds, before the turn goes on without it.
   * @default 5_000
   */
  abortGraceMs?: number | undefined
  /**
   * How many progress messages are kept for each call that nobody reads.
   * @default 1_000
   */
  maxBufferedProgress?: number | undefined
  /**
   * How large a call's input may be, in characters.
   * @default 1_000_000
   */
  maxInputChars?: number | undefined
  /**
   * Where results go that are too long for the model; without one they are cut.
   * @default none
   */
  resultStore?: ResultStore | undefined
  /**
   * Where all timers and times come from.
   * @default the timers and the date of the platform
   */
  clock?: Clock | undefined
  /**
   * Makes the ids of messages, and those of calls that came without one.
   * @default crypto.randomUUID
   */
  uuid?: (() => string) | undefined
}

export interface Settings {
  readonly maxConcurrency: number
  readonly abortGraceMs: number
  readonly maxBufferedProgress: number
  readonly maxInputChars: number
  readonly resultStore: ResultStore | undefined
  readonly clock: Clock
  readonly stamps: Stamps
}

/** The longest time that the platform's timers can hold. */
const maxDelay = 2 ** 31 - 1

const defaults: Settings = {
  maxConcurrency: 10,
  abortGraceMs: 5_000,
  maxBufferedProgress: 1_000,
  maxInputChars: 1_000_000,
  resultStore: undefined,
  clock: platformClock,
  stamps: defaultStamps,
}

/** Checked on entry, so that a wrong option fails where it was written. */
export function readOptions(options: ExecutorOptions | undefined): Settings {
  if (options === undefined) return defaults
  if (typeof options !== 'object' || options === null) fail('options', 'an object', options)
  for (const key of Object.keys(options)) if (!names.has(key)) unknownOption(key)
  const { clock = platformClock, uuid = defaultStamps.uuid, resultStore } = options
  if (resultStore !== undefined && typeof resultStore?.save !== 'function') {
    fail('resultStore', 'an object with save', resultStore)
  }
  if (typeof clock?.setTimeout !== 'function' || typeof clock.clearTimeout !== 'function') {
    fail('clock', 'an object with setTimeout and clearTimeout', clock)
  }
  if (typeof uuid !== 'function') fail('uuid', 'a function that returns a string', uuid)
  return {
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
    resultStore,
    clock,
    stamps: sturdy(uuid, clock),
  }
}

/** A message needs its stamp, whatever the host's functions do. */
function sturdy(uuid: () => string, clock: Clock): Stamps {
  return {
    uuid: () => attempt(uuid, 'string') ?? defaultStamps.uuid(),
    now: typeof clock.now === 'function' ? () => attempt(() => clock.now?.(), 'number') ?? Date.now() : Date.now,
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
    fail(name, `a whole number from ${least} to ${most}`, given)
  }
  return given
}

const names = new Set<string>([
  'maxConcurrency',
  'abortGraceMs',
  'maxBufferedProgress',
  'maxInputChars',
  'resultStore',
  'clock',
  'uuid',
] satisfies (keyof ExecutorOptions)[])

function unknownOption(key: string): never {
  throw new SignalboxError('invalid_option', `There is no option ${key}; there are ${[...names].join(', ')}.`)
}

function fail(option: string, expected: string, came: unknown): never {
  throw new SignalboxError('invalid_option', `${option} must be ${expected}, but got ${describeValue(came, 80)}.`)
}
