import type { Frame } from '../frames/frame.ts'
import { type AlignedBy, alignCalls } from './align-calls.ts'
import { type CallTimes, callTimes, type RunTimes, runTimes } from './call-times.ts'
import { type Difference, differenceOf } from './difference.ts'
import { readRun } from './read-run.ts'
import type { SeenCall } from './seen-call.ts'
import type { SeenRun } from './seen-run.ts'

export interface CompareOptions {
  /** Which run of each recording. @default the first that has calls */
  readonly runs?: readonly [a: number | undefined, b: number | undefined] | undefined
}

/** Two compared runs. */
export interface ComparedRuns {
  readonly a: RunTimes
  readonly b: RunTimes
  /** In the order of the first run, then the calls that only the second has. */
  readonly calls: readonly ComparedCall[]
  /** How many calls differ. */
  readonly differences: number
}

export interface ComparedCall {
  readonly a: CallTimes | undefined
  readonly b: CallTimes | undefined
  /** The property by which the two calls were matched. */
  readonly by: AlignedBy
  /** The first difference; undefined if there is none. Durations do not count. */
  readonly difference: Difference | undefined
}

/**
 * Compares two recorded runs call by call: matches the calls, finds the first difference of each, and gives durations.
 *
 * @example
 * for (const { a, difference } of compareRuns(before, after).calls) if (difference) console.log(a?.label, difference)
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
    difference: differenceOf(pair, pair.a && moved.get(pair.a)),
  }))
  return {
    a: timesOf(a),
    b: timesOf(b),
    calls,
    differences: calls.filter(({ difference }) => difference !== undefined).length,
  }
}

const timesOf = (run: SeenRun): RunTimes =>
  runTimes(
    run.maxConcurrency,
    run.calls.map((call) => callTimes(call)),
  )

type Pairs = ReturnType<typeof alignCalls>

/** The calls of the first run that started in a different order in the second, with both positions. */
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

/** The elements outside a longest increasing subsequence: the fewest that must move to sort the list. */
export function outOfOrder(places: readonly number[]): Set<number> {
  const ends: number[] = []
  const before: number[] = []
  for (const [at, place] of places.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((places[ends[middle] as number] as number) < place) low = middle + 1
      else high = middle
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] as number)
    ends[low] = at
  }
  const moved = new Set(places)
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) moved.delete(places[at] as number)
  return moved
}
