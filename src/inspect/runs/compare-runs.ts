import type { Frame } from '../frame.ts'
import { type AlignedBy, alignCalls } from './align-calls.ts'
import { type CallTimes, callTimes, type RunTimes, runTimes } from './call-times.ts'
import { outOfOrder } from './out-of-order.ts'
import { type Parting, partingOf } from './parting.ts'
import { readRun } from './read-run.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenRun } from './seen-run.ts'

export interface CompareOptions {
  /** Which run of each recording. @default the first that has calls */
  readonly runs?: readonly [a: number | undefined, b: number | undefined] | undefined
}

/** Two runs side by side. */
export interface ComparedRuns {
  readonly a: RunTimes
  readonly b: RunTimes
  /** In the order of the first run, then those that only the second has. */
  readonly calls: readonly ComparedCall[]
  /** How many calls do not go the same way in both. */
  readonly parted: number
}

export interface ComparedCall {
  readonly a: CallTimes | undefined
  readonly b: CallTimes | undefined
  /** Why they are taken to be the same call. */
  readonly by: AlignedBy
  /** Where their ways part; undefined where they do not. Durations are not ways. */
  readonly parting: Parting | undefined
}

/**
 * Two recorded runs, call by call: which is which, where their ways part first, and how long each took.
 *
 * @example
 * for (const { a, parting } of compareRuns(before, after).calls) if (parting) console.log(a?.label, parting)
 */
export function compareRuns(
  a: Iterable<Frame>,
  b: Iterable<Frame>,
  { runs: [runOfA, runOfB] = [undefined, undefined] }: CompareOptions = {},
): ComparedRuns {
  return compareSeen(readRun(a, runOfA), readRun(b, runOfB))
}

export function compareSeen(a: SeenRun, b: SeenRun): ComparedRuns {
  const pairs = alignCalls(a.calls, b.calls)
  const moved = movedStarts(pairs)
  const calls = pairs.map((pair) => ({
    a: pair.a && callTimes(pair.a),
    b: pair.b && callTimes(pair.b),
    by: pair.by,
    parting: partingOf(pair, pair.a && moved.get(pair.a)),
  }))
  return {
    a: timesOf(a),
    b: timesOf(b),
    calls,
    parted: calls.filter(({ parting }) => parting !== undefined).length,
  }
}

const timesOf = (run: SeenRun): RunTimes =>
  runTimes(
    run.maxConcurrency,
    run.calls.map((call) => callTimes(call)),
  )

type Pairs = ReturnType<typeof alignCalls>

/** Those of the first run that started at another place among the others in the second, and both places. */
function movedStarts(pairs: Pairs): Map<SeenCall, readonly [a: number, b: number]> {
  const both = pairs.filter(({ a, b }) => a?.startedSeq !== undefined && b?.startedSeq !== undefined)
  const sortedBy = (side: 'a' | 'b'): Pairs =>
    [...both].sort((one, other) => (one[side]?.startedSeq ?? 0) - (other[side]?.startedSeq ?? 0))
  const inA = sortedBy('a')
  const placeInB = new Map(sortedBy('b').map((pair, place) => [pair, place]))
  const moved = outOfOrder(inA.map((pair) => placeInB.get(pair) ?? 0))
  const places = inA.map((pair, place) => [pair.a as SeenCall, [place, placeInB.get(pair) ?? 0]] as const)
  return new Map(places.filter(([, [, inB]]) => moved.has(inB)))
}
