import { isAlone, isExecuting, type ModelCall } from './model-call.ts'
import type { Keys } from './turn-view.ts'

export function gateOf(calls: readonly ModelCall[]): string {
  const executing = calls.filter(isExecuting)
  if (executing.length === 0) return 'open'
  return executing.some(isAlone) ? 'exclusive' : 'shared'
}

/** Whether one more call may run; calls that wait for a person do not count. */
export const hasPlace = (calls: readonly ModelCall[], maxConcurrency: number): boolean =>
  calls.filter((call) => isExecuting(call) && call.stage !== 'asking').length < maxConcurrency

/** The first call, in emission order, that may start now. */
export function nextToStart(calls: readonly ModelCall[], maxConcurrency: number): ModelCall | undefined {
  if (!hasPlace(calls, maxConcurrency)) return undefined
  return calls.find((call) => call.stage === 'waiting' && !call.held && isFree(calls, call))
}

/** Nothing that executes uses its resources, and nothing before it waits for them. */
export function isFree(calls: readonly ModelCall[], call: ModelCall): boolean {
  const isInUse = calls.some((each) => each !== call && isExecuting(each) && conflict(each.keys, call.keys))
  const before = calls.slice(0, calls.indexOf(call))
  return !isInUse && !before.some((each) => each.stage === 'waiting' && isInTheWay(each, call))
}

/** A held call may never run: only what it may write is kept for it. */
function isInTheWay({ held, keys }: ModelCall, call: ModelCall): boolean {
  if (!held) return conflict(keys, call.keys)
  return keys.writes.length > 0 && conflict({ reads: [], writes: keys.writes }, call.keys)
}

/** One of them writes what the other reads or writes; writing everything conflicts even with nothing. */
function conflict(one: Keys, other: Keys): boolean {
  if (one.writes.includes('*') || other.writes.includes('*')) return true
  const isUsed = (key: string, { reads, writes }: Keys): boolean =>
    [...reads, ...writes].some((each) => meet(key, each))
  return one.writes.some((key) => isUsed(key, other)) || other.writes.some((key) => isUsed(key, one))
}

const meet = (one: string, other: string): boolean => within(one, other) || within(other, one)

const within = (key: string, outer: string): boolean =>
  outer === '*' || outer === key || (outer.at(-1) === '/' && key.slice(0, outer.length) === outer)
